use super::*;

#[test]
fn an_error_names_how_long_to_wait_and_no_status_that_is_not_there() {
    let limited = |seconds| {
        ModelError::RateLimit {
            service: "svc".into(),
            message: "slow down".into(),
            retry_after: Some(Duration::from_secs_f64(seconds)),
        }
        .to_string()
    };
    let table = [
        (0.2, "1 s"),
        (59.0, "59 s"),
        (60.0, "1 min"),
        (90.0, "1 min 30 s"),
        (3_600.0, "1 h"),
        (9_000.0, "2 h 30 min"),
    ];
    for (seconds, shown) in table {
        assert_eq!(
            limited(seconds),
            format!("svc limits the rate of requests: slow down (try again in {shown})")
        );
    }
    let refused =
        |status| ModelError::Refused { service: "svc".into(), status, message: "no".into() }.to_string();
    assert_eq!(refused(0), "svc refused the request: no");
    assert_eq!(refused(400), "svc refused the request (status 400): no");
    let failed =
        ModelError::Service { service: "svc".into(), status: 0, message: "boom".into(), retry_after: None };
    assert_eq!(failed.to_string(), "svc failed: boom");
}

#[test]
fn an_unreadable_response_is_worth_another_request_while_nothing_has_arrived() {
    for has_begun in [false, true] {
        let error = ModelError::Malformed { reason: "an event is no JSON".into(), has_begun };
        assert_eq!(error.is_transient(), !has_begun);
    }
    assert!(!ModelError::TooLarge { what: "it", limit: 1 }.is_transient());
}
