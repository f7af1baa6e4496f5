//! What a derived cell or a watcher is made of: tuples of references to cells, one to twelve.

use std::ops::Deref;
use std::rc::Rc;

use super::cell::Cell;

/// A tuple of references to cells. Their values come as a tuple of references, in the same order.
pub trait Inputs {
    /// The values.
    type Values<'v>;
    /// The cells, to be kept.
    type Bound: 'static;

    /// Shows each cell: its graph, and its index there.
    fn each(&self, show: &mut dyn FnMut(&Rc<()>, usize));

    /// Keeps the cells.
    fn bind(self) -> Self::Bound;

    /// Lets `read` see the values as they are now.
    fn with<R>(bound: &Self::Bound, read: impl FnOnce(Self::Values<'_>) -> R) -> R;
}

macro_rules! tuple {
    ($($handle:ident $value:ident $name:ident),+) => {
        impl<$($handle, $value),+> Inputs for ($(&$handle,)+)
        where
            $($handle: Deref<Target = Cell<$value>>, $value: 'static,)+
        {
            type Values<'v> = ($(&'v $value,)+);
            type Bound = ($(Cell<$value>,)+);

            fn each(&self, show: &mut dyn FnMut(&Rc<()>, usize)) {
                let ($($name,)+) = self;
                $(show($name.home(), $name.index());)+
            }

            fn bind(self) -> Self::Bound {
                let ($($name,)+) = self;
                ($(Cell::clone($name),)+)
            }

            fn with<R>(bound: &Self::Bound, read: impl FnOnce(Self::Values<'_>) -> R) -> R {
                let ($($name,)+) = bound;
                $(let $name = $name.borrow();)+
                read(($(&$name,)+))
            }
        }
    };
}

tuple!(A U a);
tuple!(A U a, B V b);
tuple!(A U a, B V b, C W c);
tuple!(A U a, B V b, C W c, D X d);
tuple!(A U a, B V b, C W c, D X d, E Y e);
tuple!(A U a, B V b, C W c, D X d, E Y e, F Z f);
tuple!(A U a, B V b, C W c, D X d, E Y e, F Z f, G S g);
tuple!(A U a, B V b, C W c, D X d, E Y e, F Z f, G S g, H T h);
tuple!(A U a, B V b, C W c, D X d, E Y e, F Z f, G S g, H T h, I P i);
tuple!(A U a, B V b, C W c, D X d, E Y e, F Z f, G S g, H T h, I P i, J Q j);
tuple!(A U a, B V b, C W c, D X d, E Y e, F Z f, G S g, H T h, I P i, J Q j, K O k);
tuple!(A U a, B V b, C W c, D X d, E Y e, F Z f, G S g, H T h, I P i, J Q j, K O k, L N l);
