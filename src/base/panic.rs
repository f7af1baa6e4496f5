//! Panics as text: a defect is caught where it happens and told in one line, never dumped on a terminal.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

thread_local! {
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Hears of the places of panics.
type Witness = Box<dyn Fn(&str) + Send + Sync>;

static WITNESS: OnceLock<Witness> = OnceLock::new();

/// Tells `witness` where a panic happened, on the thread it happened on, caught or not; the first witness stays.
pub fn watch(witness: impl Fn(&str) + Send + Sync + 'static) {
    // A second one has come too late.
    let _ = WITNESS.set(Box::new(witness));
}

/// Keeps panics silent; those caught with [`caught`] are told by the catcher.
pub fn keep_silent() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(|place| format!("{}:{}", place.file(), place.line()));
        if let (Some(witness), Some(place)) = (WITNESS.get(), &place) {
            witness(place);
        }
        PLACE.with(|kept| *kept.borrow_mut() = place);
    }));
}

/// Runs `work`; a panic in it becomes one line: what was said and where.
///
/// # Errors
///
/// When `work` panicked.
pub fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let place = PLACE.with(|kept| kept.borrow_mut().take());
        let said = said(payload.as_ref());
        place.map_or_else(|| said.clone(), |place| format!("{said} ({place})"))
    })
}

fn said(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("no message").lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_one_line() {
        assert_eq!(caught(|| 1), Ok(1));
        let told = caught(|| -> u8 { panic!("first\nsecond") }).unwrap_err();
        assert!(told.starts_with("first") && !told.contains('\n'), "{told}");
    }
}
