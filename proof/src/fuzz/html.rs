//! Reads a page as a browser would, tag by tag, and complains about whatever our templates would not write.

/// Elements of which a page has a fixed number.
const COUNTED: [(&str, usize); 3] = [("script", 1), ("style", 1), ("meta", 5)];
/// Elements that no template has.
const FOREIGN: [&str; 9] = ["iframe", "base", "object", "embed", "form", "link", "math", "applet", "frame"];

/// Checks the elements, attributes and addresses of a page.
pub(super) fn check(page: &[u8]) -> Result<(), String> {
    let mut counts = [0; COUNTED.len()];
    let mut rest = page;
    while let Some(tag) = next_tag(&mut rest) {
        if FOREIGN.contains(&tag.name.as_str()) {
            return Err(format!("an element <{}>", tag.name));
        }
        if let Some(at) = COUNTED.iter().position(|(name, _)| *name == tag.name) {
            counts[at] += 1;
        }
        tag.attributes.iter().try_for_each(|(name, value)| check_attribute(&tag.name, name, value))?;
        if matches!(tag.name.as_str(), "script" | "style") {
            skip_to(&mut rest, format!("</{}", tag.name).as_bytes());
        }
    }
    match COUNTED.iter().zip(counts).find(|((_, wanted), count)| wanted != count) {
        Some(((name, wanted), count)) => Err(format!("{count} elements <{name}> instead of {wanted}")),
        None => Ok(()),
    }
}

fn check_attribute(element: &str, name: &str, value: &str) -> Result<(), String> {
    let is_sound = match name {
        "href" => ["#", "http://", "https://", "mailto:"].iter().any(|start| value.starts_with(start)),
        "src" => value.starts_with("data:image/"),
        "srcdoc" | "action" | "formaction" | "srcset" | "background" | "ping" => false,
        name => !name.starts_with("on"),
    };
    if is_sound { Ok(()) } else { Err(format!("<{element} {name}={value:?}>")) }
}

struct Tag {
    name: String,
    attributes: Vec<(String, String)>,
}

fn skip_to(rest: &mut &[u8], end: &[u8]) {
    let at = rest.windows(end.len()).position(|window| window == end).unwrap_or(rest.len());
    *rest = &rest[at..];
}

/// Takes the next opening tag.
fn next_tag(rest: &mut &[u8]) -> Option<Tag> {
    loop {
        let at = rest.iter().position(|byte| *byte == b'<')?;
        *rest = &rest[at + 1..];
        if rest.starts_with(b"!--") {
            skip_to(rest, b"-->");
        } else if rest.first().is_some_and(u8::is_ascii_alphabetic) {
            let name = take_while(rest, |byte| !byte.is_ascii_whitespace() && !matches!(byte, b'>' | b'/'));
            return Some(Tag { name: name.to_ascii_lowercase(), attributes: attributes(rest) });
        }
    }
}

fn take_while(rest: &mut &[u8], is_part: impl Fn(u8) -> bool) -> String {
    let end = rest.iter().position(|byte| !is_part(*byte)).unwrap_or(rest.len());
    let taken = String::from_utf8_lossy(&rest[..end]).into_owned();
    *rest = &rest[end..];
    taken
}

fn attributes(rest: &mut &[u8]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    loop {
        take_while(rest, |byte| byte.is_ascii_whitespace() || byte == b'/');
        if rest.first().is_none_or(|byte| *byte == b'>') {
            return found;
        }
        let name =
            take_while(rest, |byte| !byte.is_ascii_whitespace() && !matches!(byte, b'=' | b'>' | b'/'));
        let value = if rest.first() == Some(&b'=') { value(rest) } else { String::new() };
        if name.is_empty() && value.is_empty() {
            *rest = rest.get(1..).unwrap_or_default();
        }
        found.push((name.to_ascii_lowercase(), value));
    }
}

fn value(rest: &mut &[u8]) -> String {
    *rest = &rest[1..];
    match rest.first() {
        Some(quote @ (b'"' | b'\'')) => {
            let quote = *quote;
            *rest = &rest[1..];
            let value = take_while(rest, |byte| byte != quote);
            *rest = rest.get(1..).unwrap_or_default();
            value
        }
        _ => take_while(rest, |byte| !byte.is_ascii_whitespace() && byte != b'>'),
    }
}

#[cfg(test)]
mod tests {
    use super::check;

    const HEAD: &str = "<meta a><meta b><meta c><meta d><meta e><style>a<b</style>";

    #[test]
    fn what_templates_write_is_let_through_and_everything_else_is_not() {
        let page = |body: &str| check(format!("{HEAD}{body}<script>x < y</script>").as_bytes());
        assert_eq!(page("<p class=\"a\">words &lt;b&gt;</p><a href=\"#e1\">x</a>"), Ok(()));
        for bad in [
            "<p onclick=\"x\">",
            "<a href=\"javascript:x\">",
            "<img src=\"http://e\">",
            "<script></script>",
            "<iframe>",
            "<p a='b' ONload=x>",
            "<meta>",
            "<a href=java&#115;cript:x>",
        ] {
            assert!(page(bad).is_err(), "{bad}");
        }
    }
}
