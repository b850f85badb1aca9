//! Addresses, by the rules of the web.

use serde_json::{Value as Json, json};
use url::{Url, quirks};

use super::{Answer, text, unknown};

pub(super) fn call(name: &str, arguments: &Json) -> Answer {
    let found = match name {
        "parse" => parsed(text(arguments, "url")?, arguments["base"].as_str()),
        "set" => changed(text(arguments, "url")?, text(arguments, "part")?, text(arguments, "value")?),
        _ => return unknown("url", name),
    };
    Ok(found.map_or(Json::Null, |url| parts(&url)).to_string())
}

fn parsed(text: &str, base: Option<&str>) -> Option<Url> {
    match base {
        Some(base) => Url::parse(base).ok()?.join(text).ok(),
        None => Url::parse(text).ok(),
    }
}

/// Sets one part; a value that does not fit changes nothing.
fn changed(text: &str, part: &str, value: &str) -> Option<Url> {
    let mut url = Url::parse(text).ok()?;
    match part {
        "protocol" => quirks::set_protocol(&mut url, value).ok()?,
        "username" => quirks::set_username(&mut url, value).ok()?,
        "password" => quirks::set_password(&mut url, value).ok()?,
        "host" => quirks::set_host(&mut url, value).ok()?,
        "hostname" => quirks::set_hostname(&mut url, value).ok()?,
        "port" => quirks::set_port(&mut url, value).ok()?,
        "pathname" => quirks::set_pathname(&mut url, value),
        "search" => quirks::set_search(&mut url, value),
        "hash" => quirks::set_hash(&mut url, value),
        _ => return None,
    }
    Some(url)
}

fn parts(url: &Url) -> Json {
    json!({
        "href": quirks::href(url),
        "origin": quirks::origin(url),
        "protocol": quirks::protocol(url),
        "username": quirks::username(url),
        "password": quirks::password(url),
        "host": quirks::host(url),
        "hostname": quirks::hostname(url),
        "port": quirks::port(url),
        "pathname": quirks::pathname(url),
        "search": quirks::search(url),
        "hash": quirks::hash(url),
    })
}
