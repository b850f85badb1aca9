use super::*;

#[test]
fn the_holder_of_a_lock_is_found_by_device_and_file() {
    let locks = "1: POSIX  ADVISORY  WRITE 7 08:01:5 0 EOF\n\
        2: FLOCK  ADVISORY  WRITE 11 08:02:5 0 EOF\n\
        3: FLOCK  ADVISORY  WRITE 12 08:01:5 0 EOF\n\
        3: -> FLOCK  ADVISORY  WRITE 13 08:01:5 0 EOF\n\
        4: FLOCK  ADVISORY  WRITE 14 00:2f:6 0 EOF\n";
    let id = |minor, number| FileId { device: rustix::fs::makedev(8, minor), number };
    assert_eq!(holder_in(locks, id(1, 5)), Some(12));
    assert_eq!(holder_in(locks, id(2, 5)), Some(11));
    assert_eq!(holder_in(locks, id(3, 5)), None, "two files have this number");
    assert_eq!(holder_in(locks, id(1, 6)), Some(14), "one file has this number");
    assert_eq!(holder_in(locks, id(1, 7)), None);
    assert_eq!(holder_in("", id(1, 5)), None);
}
