//! Cells of a graph, and the handles to them. A handle can be copied about; it changes nothing by itself.

use std::cell::{Ref, RefCell};
use std::fmt;
use std::ops::Deref;
use std::rc::Rc;

/// A value of a graph, whatever sets it.
pub struct Cell<T>(Rc<Slot<T>>);

/// A cell that events change.
#[derive(Debug)]
pub struct Store<T>(pub(super) Cell<T>);

/// A cell that follows from others.
#[derive(Debug)]
pub struct Derived<T>(pub(super) Cell<T>);

struct Slot<T> {
    /// Which graph it belongs to.
    home: Rc<()>,
    index: usize,
    name: &'static str,
    /// Borrowed for writing by nothing but a reducer of its own, and for as long as it takes to put a value in its place.
    value: RefCell<T>,
}

impl<T> Cell<T> {
    pub(super) fn new(home: Rc<()>, index: usize, name: &'static str, value: T) -> Self {
        Self(Rc::new(Slot { home, index, name, value: RefCell::new(value) }))
    }

    /// What it is called in errors.
    pub fn name(&self) -> &'static str {
        self.0.name
    }

    pub(super) fn index(&self) -> usize {
        self.0.index
    }

    pub(super) fn home(&self) -> &Rc<()> {
        &self.0.home
    }

    pub(super) fn is_of(&self, home: &Rc<()>) -> bool {
        Rc::ptr_eq(&self.0.home, home)
    }

    pub(super) fn borrow(&self) -> Ref<'_, T> {
        self.0.value.borrow()
    }

    /// Lets a reducer at the value; says whether it has changed.
    pub(super) fn change<E>(&self, event: &E, reduce: impl Fn(&mut T, &E) -> bool) -> bool {
        reduce(&mut self.0.value.borrow_mut(), event)
    }

    /// Puts a value in place; says whether it is another one.
    pub(super) fn replace(&self, value: T) -> bool
    where
        T: PartialEq,
    {
        super::set(&mut *self.0.value.borrow_mut(), value)
    }
}

impl<T> Clone for Cell<T> {
    fn clone(&self) -> Self {
        Self(Rc::clone(&self.0))
    }
}

impl<T> Clone for Store<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Clone for Derived<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Deref for Store<T> {
    type Target = Cell<T>;

    fn deref(&self) -> &Cell<T> {
        &self.0
    }
}

impl<T> Deref for Derived<T> {
    type Target = Cell<T>;

    fn deref(&self) -> &Cell<T> {
        &self.0
    }
}

impl<T: fmt::Debug> fmt::Debug for Cell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {:?}", self.0.name, self.0.value.borrow())
    }
}
