//! Bytes: hashes, keyed hashes, keys made of passwords, and compression. They cross the border as base64.

use std::io::{Read, Write as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use hmac::{Hmac, KeyInit, Mac};
use md5::Md5;
use serde_json::Value as Json;
use sha1::Sha1;
use sha2::Digest as _;
use sha2::{Sha224, Sha256, Sha384, Sha512};

use super::{Answer, json as spelled, said, text, unknown};
use crate::engine::Shared;

pub(super) fn call(shared: &Shared, name: &str, arguments: &Json) -> Answer {
    let data = decoded(arguments, "base64")?;
    let made = match name {
        "hash" => hash(text(arguments, "algorithm")?, &data)?,
        "hmac" => hmac(text(arguments, "algorithm")?, &decoded(arguments, "key")?, &data)?,
        "pbkdf2" => pbkdf2(shared, arguments, &data)?,
        "compress" => compressed(arguments, &data)?,
        "decompress" => decompressed(shared, text(arguments, "format")?, &data)?,
        _ => return unknown("bytes", name),
    };
    spelled(STANDARD.encode(made))
}

fn decoded(arguments: &Json, key: &str) -> Result<Vec<u8>, String> {
    STANDARD.decode(text(arguments, key)?).map_err(said)
}

fn hash(algorithm: &str, data: &[u8]) -> Result<Vec<u8>, String> {
    Ok(match algorithm {
        "md5" => Md5::digest(data).to_vec(),
        "sha1" => Sha1::digest(data).to_vec(),
        "sha224" => Sha224::digest(data).to_vec(),
        "sha256" => Sha256::digest(data).to_vec(),
        "sha384" => Sha384::digest(data).to_vec(),
        "sha512" => Sha512::digest(data).to_vec(),
        _ => return Err(no_digest(algorithm)),
    })
}

fn no_digest(algorithm: &str) -> String {
    format!("Digest method not supported: {algorithm}")
}

fn hmac(algorithm: &str, key: &[u8], data: &[u8]) -> Result<Vec<u8>, String> {
    fn of<M: Mac + KeyInit>(key: &[u8], data: &[u8]) -> Result<Vec<u8>, String> {
        let mut mac = <M as KeyInit>::new_from_slice(key).map_err(said)?;
        mac.update(data);
        Ok(mac.finalize().into_bytes().to_vec())
    }
    match algorithm {
        "md5" => of::<Hmac<Md5>>(key, data),
        "sha1" => of::<Hmac<Sha1>>(key, data),
        "sha224" => of::<Hmac<Sha224>>(key, data),
        "sha256" => of::<Hmac<Sha256>>(key, data),
        "sha384" => of::<Hmac<Sha384>>(key, data),
        "sha512" => of::<Hmac<Sha512>>(key, data),
        _ => Err(no_digest(algorithm)),
    }
}

/// Makes a key of a password (RFC 8018). Ends with the time of script.
fn pbkdf2(shared: &Shared, arguments: &Json, password: &[u8]) -> Result<Vec<u8>, String> {
    let number = |key: &str| arguments[key].as_u64().ok_or_else(|| format!("`{key}` is not a number"));
    let (algorithm, salt) = (text(arguments, "algorithm")?, decoded(arguments, "salt")?);
    let (rounds, length) = (number("rounds")?, usize::try_from(number("length")?).map_err(said)?);
    if length > 1 << 16 {
        return Err("the key is too long".to_owned());
    }
    let mut key = Vec::new();
    let mut block = 1_u32;
    while key.len() < length {
        let mut round = hmac(algorithm, password, &[&salt[..], &block.to_be_bytes()].concat())?;
        let mut sum = round.clone();
        for at in 1..rounds {
            if at % 1_024 == 0 && shared.setting.clock.should_end() {
                return Err("it exceeded its time limit".to_owned());
            }
            round = hmac(algorithm, password, &round)?;
            sum.iter_mut().zip(&round).for_each(|(sum, byte)| *sum ^= byte);
        }
        key.extend(sum);
        block += 1;
    }
    key.truncate(length);
    Ok(key)
}

fn compressed(arguments: &Json, data: &[u8]) -> Result<Vec<u8>, String> {
    let level = arguments["level"].as_u64().and_then(|level| u32::try_from(level).ok()).unwrap_or(6);
    let level = Compression::new(level.min(9));
    let written = match text(arguments, "format")? {
        "gzip" => {
            let mut encoder = GzEncoder::new(Vec::new(), level);
            encoder.write_all(data).and_then(|()| encoder.finish())
        }
        "deflate" => {
            let mut encoder = ZlibEncoder::new(Vec::new(), level);
            encoder.write_all(data).and_then(|()| encoder.finish())
        }
        "deflate-raw" => {
            let mut encoder = DeflateEncoder::new(Vec::new(), level);
            encoder.write_all(data).and_then(|()| encoder.finish())
        }
        format => return Err(format!("no compression `{format}`")),
    };
    written.map_err(said)
}

fn decompressed(shared: &Shared, format: &str, data: &[u8]) -> Result<Vec<u8>, String> {
    // A few bytes may become very many.
    let most = shared.setting.limits.memory / 4;
    let mut out = Vec::new();
    let mut read = |from: &mut dyn Read| from.take(most as u64 + 1).read_to_end(&mut out);
    let done = match format {
        "gzip" => read(&mut MultiGzDecoder::new(data)),
        "deflate" => read(&mut ZlibDecoder::new(data)),
        "deflate-raw" => read(&mut DeflateDecoder::new(data)),
        _ => return Err(format!("no compression `{format}`")),
    };
    done.map_err(said)?;
    (out.len() <= most).then_some(out).ok_or_else(|| format!("the result is longer than {most} bytes"))
}
