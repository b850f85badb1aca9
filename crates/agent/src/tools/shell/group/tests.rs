use super::*;

#[test]
fn processes_that_ended_do_not_run() {
    let group = Pid::from_raw(42).unwrap();
    assert_eq!(is_running_in("7 (sleep) S 1 42 42 0 -1", group), Some(true));
    assert_eq!(is_running_in("7 (a) Z 1 42) R 1 42 42 0 -1", group), Some(true), "a name may lie");
    assert_eq!(is_running_in("7 (sleep) Z 1 42 42 0 -1", group), Some(false));
    assert_eq!(is_running_in("7 (sleep) S 1 43 42 0 -1", group), Some(false));
    assert_eq!(is_running_in("odd", group), None);
}
