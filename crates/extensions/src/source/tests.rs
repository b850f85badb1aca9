use super::*;

fn of_first(source: &str) -> Vec<String> {
    function_use(source).of_first.into_iter().collect()
}

#[test]
fn properties_of_the_first_parameter_are_found_however_they_are_read() {
    for source in [
        "async (ctx) => ctx.args",
        "(ctx) => ctx?.args",
        "function (ctx) { return ctx['args']; }",
        "async function named(ctx = {}) { const { args } = ctx; }",
        "({ args }) => args",
        "async handler(ctx) { const same = ctx; return same.args; }",
        "#handler(ctx) { return ctx.args }",
        "async *['handler'](ctx) { yield (ctx).args }",
        "(ctx) => [1].map(() => ctx.args)",
        "(ctx) => `${ctx.args}`",
    ] {
        let found = function_use(source);
        assert!(found.of_first.contains("args"), "{source}: {found:?}");
        assert_eq!(found.parameters, 1, "{source}");
    }
}

#[test]
fn other_mentions_are_none() {
    for source in [
        "(args) => /x/.exec(args)",
        "(args) => pi.ui(args)",
        "(args) => { /* ctx.args */ return 'ctx.args'; } // args.ui",
        "(text, ctx) => ctx.ui.notify(text)",
        "function () { [native code] }",
        "not a function",
    ] {
        assert_eq!(of_first(source), Vec::<String>::new(), "{source}");
    }
    assert_eq!(function_use("(a, ...rest) => a").parameters, 2);
    assert_eq!(function_use("() => 1").parameters, 0);
}

#[test]
fn the_state_of_a_signal_is_not_the_state_of_an_event() {
    let reads = |source: &str| function_use(source).of_any.contains("aborted");
    for source in [
        "(event) => event.aborted",
        "({ aborted }) => aborted",
        "(e) => { const copy = { ...e }; copy.aborted }",
    ] {
        assert!(reads(source), "{source}");
    }
    for source in [
        "(event) => event.signal.aborted",
        "(event, ctx) => ctx.signal?.aborted",
        "(event, ctx) => ctx?.signal?.aborted",
        "(event, { signal }) => signal.aborted",
        "(event) => notify('aborted')",
    ] {
        assert!(!reads(source), "{source}");
    }
}
