use super::*;

#[test]
fn all_expressions_are_read() {
    // An invalid expression is replaced by one that matches nothing.
    let redactor = Redactor::new(Some("/srv/x"), &[]).unwrap();
    for text in [
        "-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----",
        "eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.abc",
        "sk-abcdefghij1234567890",
        "https://hooks.slack.com/services/T000/B000/XXXXXXXXXXXXXXXX",
        "redis://:hunter2pw@host",
        "Authorization: Bearer abc123def456ghi",
        "MY_SECRET=short",
        "password = 'abc12345'",
        "password=hunter2hunter",
        "curl -u ada:hunter",
        "login --password hunter",
        "ada@example.org",
        "/home/ada/x",
        "/srv/x/y",
    ] {
        assert_ne!(redactor.text(text), text);
    }
}

#[test]
fn a_sample_never_is_a_whole_secret() {
    assert_eq!(sample("abc"), "…");
    assert_eq!(sample("sk-ant-0123456789012345"), "sk-an…");
}

#[test]
fn a_home_is_a_whole_name() {
    let redactor = Redactor::new(Some("/home/ada/"), &[]).unwrap();
    for (text, cleaned) in [
        ("/home/adam/x", "~/x"),
        ("/home/ada/x", "~/x"),
        ("cd /home/ada", "cd ~"),
        ("(/home/ada)", "(~)"),
        ("PATH=/home/ada:/home/ada/bin", "PATH=~:~/bin"),
    ] {
        assert_eq!(redactor.text(text), cleaned);
    }
    let root = Redactor::new(Some("/root"), &[]).unwrap();
    assert_eq!(root.text("/rootfs /root/x /root"), "/rootfs ~/x ~");
}

#[test]
fn what_cannot_be_read_is_not_called_unwritable() {
    struct Broken;
    impl std::io::Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("the disk is broken"))
        }
    }
    let lines = std::io::BufReader::new(std::io::Read::chain(&b"{}\n"[..], Broken));
    let error = Redactor::new(None, &[]).unwrap().copy(lines, &mut Vec::new()).unwrap_err();
    assert!(matches!(error, Error::Read(_)), "{error:?}");
}
