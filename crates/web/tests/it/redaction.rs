//! Planted secrets, and lines without secrets.

use std::io::Cursor;

use offshoot_web::Redactor;
use serde_json::{Value, json};
use testkit::corpus::{self, Shape};
use testkit::rng::Rng;

const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const HEX: &str = "0123456789abcdef";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

fn random(rng: &mut Rng, alphabet: &str, length: usize) -> String {
    let letters: Vec<char> = alphabet.chars().collect();
    // Two digits at least, as every real key of that length has.
    let mut text: String = (0..length - 2).map(|_| *rng.pick(&letters)).collect();
    text.insert(length / 3, '7');
    text.push('2');
    text
}

/// Returns a secret and a text that contains it at `@`; `§` is a literal `@`.
fn planted(rng: &mut Rng, kind: u64) -> (String, String) {
    let mut r = |alphabet: &str, length: usize| random(rng, alphabet, length);
    let with = |secret: String, text: &str| (secret.clone(), text.replace('@', &secret));
    match kind % 25 {
        0 => with(format!("sk-ant-api03-{}", r(LETTERS, 80)), "export ANTHROPIC_API_KEY=@"),
        1 => with(format!("sk-proj-{}", r(LETTERS, 48)), "client = OpenAI(api_key=\"@\")"),
        2 => with(format!("ghp_{}", r(LETTERS, 36)), "git clone https://x:@github.com/a/b"),
        3 => with(format!("github_pat_{}", r(LETTERS, 70)), "the token is @, keep it"),
        4 => with(format!("AKIA{}", r(UPPER, 16)), "aws_access_key_id = @"),
        5 => with(r(LETTERS, 40), "aws_secret_access_key = @"),
        6 => with(format!("AIza{}", r(LETTERS, 35)), "https://maps.example/api?key=@&x=1"),
        7 => with(format!("xoxb-{}-{}", r("0123456789", 12), r(LETTERS, 24)), "SLACK=@"),
        8 => with(format!("glpat-{}", r(LETTERS, 20)), "curl --header 'PRIVATE-TOKEN: @'"),
        9 => with(
            format!("eyJ{}.eyJ{}.{}", r(LETTERS, 30), r(LETTERS, 60), r(LETTERS, 43)),
            "Cookie: session=@; path=/",
        ),
        10 => with(r(LETTERS, 40), "Authorization: Bearer @"),
        11 => with(r(LETTERS, 24), "postgres://app:@§db.internal/db"),
        12 => {
            let body = r(LETTERS, 64);
            let pem =
                format!("-----BEGIN RSA PRIVATE KEY-----\n{body}\n{body}\n-----END RSA PRIVATE KEY-----");
            (body, format!("cat id_rsa\n{pem}\ndone"))
        }
        13 => {
            let body = r(LETTERS, 70);
            (body.clone(), format!("-----BEGIN OPENSSH PRIVATE KEY-----\n{body}\n"))
        }
        14 => with(format!("sk_live_{}", r(LETTERS, 24)), "stripe.api_key = '@'"),
        15 => with(format!("npm_{}", r(LETTERS, 36)), "//registry.npmjs.org/:_authToken=@"),
        16 => with(format!("hf_{}", r(LETTERS, 34)), "huggingface-cli login --token @"),
        17 => with(format!("SG.{}.{}", r(LETTERS, 22), r(LETTERS, 43)), "sendgrid @"),
        18 => with(r(LETTERS, 16), "DB_PASSWORD=@\nDB_HOST=db"),
        19 => with(r(HEX, 32), "{\"client_secret\": \"@\"}"),
        20 => with(format!("{}.{}", r("abcdefgh", 7), r("mnopqrst", 6)), "From: Ada <@§corp.example.org>"),
        21 => with(format!("u{}", r("abcdefgh", 7)), "cd /home/@/work && ls"),
        22 => with(format!("u{}", r("abcdefgh", 7)), "open /Users/@/Library"),
        23 => with(
            format!("T{}/B{}/{}", r(UPPER, 8), r(UPPER, 8), r(LETTERS, 24)),
            "https://hooks.slack.com/services/@",
        ),
        _ => with(r(LETTERS, 20), "password: \"@\""),
    }
}

/// Puts a text where sessions carry text.
fn line(number: u64, text: &str) -> String {
    let message = match number % 4 {
        0 => json!({"role": "user", "content": text}),
        1 => json!({"role": "assistant", "content": [{"type": "text", "text": text}]}),
        2 => {
            json!({"role": "assistant", "content": [{"type": "toolCall", "id": "c", "name": "bash", "arguments": {"command": text}}]})
        }
        _ => json!({"role": "toolResult", "content": [{"type": "text", "text": text}]}),
    };
    json!({"type": "message", "id": number.to_string(), "parentId": null, "message": message}).to_string()
}

#[test]
fn two_hundred_planted_secrets_are_found() {
    let mut rng = Rng::new(7);
    let redactor = Redactor::new(None, &[]).unwrap();
    let mut missed = Vec::new();
    for number in 0..200 {
        let (secret, text) = planted(&mut rng, number);
        let text = text.replace('§', "@");
        let mut out = Vec::new();
        let report = redactor.copy(Cursor::new(line(number, &text)), &mut out).unwrap();
        let copy = String::from_utf8(out).unwrap();
        assert!(serde_json::from_str::<Value>(&copy).is_ok(), "{copy}");
        if copy.contains(&secret) || report.total() == 0 {
            missed.push(text);
        }
    }
    assert!(missed.len() <= 2, "{} of 200: {missed:#?}", missed.len());
}

#[test]
fn passwords_that_are_words_are_found_by_their_place() {
    let redactor = Redactor::new(None, &[]).unwrap();
    for text in [
        "password=@",
        "PASSWORD=@ ./deploy",
        "sudo PGPASSWORD=@ psql -h db",
        "https://example.org/login?user=ada&password=@&next=1",
        "passwd: '@'",
        "{\"password\": \"@\"}",
        "DB_PASS=\"@\"",
        "curl -u ada:@ https://example.org",
        "curl -sS --user \"ada:@\" https://example.org",
        "curl https://example.org -u 'ada:@'",
        "mysql -u root -p@ shop",
        "mysqldump -p'@' shop > shop.sql",
        "mysql --password=@ shop",
        "sshpass -p @ ssh host",
        "redis-cli -h cache -a @ ping",
    ] {
        for secret in ["hunter2hunter", "hunter", "correct-horse"] {
            let text = text.replace('@', secret);
            let cleaned = redactor.text(&text);
            assert!(!cleaned.contains(secret), "{cleaned}");
            assert!(cleaned.contains("[redacted "), "{cleaned}");
        }
    }
}

#[test]
fn an_argument_with_the_name_of_a_password_is_one() {
    let redactor = Redactor::new(None, &[]).unwrap();
    let call = json!({"name": "login", "arguments": {"user": "ada", "dbPassword": "hunter", "passwordType": "string"}});
    let mut out = Vec::new();
    let report = redactor.copy(Cursor::new(call.to_string()), &mut out).unwrap();
    let copy: Value = serde_json::from_slice(&out).unwrap();
    let expected = json!({"user": "ada", "dbPassword": "[redacted password]", "passwordType": "string"});
    assert_eq!((&copy["arguments"], report.total()), (&expected, 1));
}

#[test]
fn plain_lines_stay_as_they_are() {
    let mut session = Vec::new();
    corpus::write(&Shape::realistic(2_400), &mut session).unwrap();
    let redactor = Redactor::new(None, &[]).unwrap();
    let mut lines: Vec<String> = Vec::new();
    for entry in String::from_utf8(session).unwrap().lines() {
        collect(&serde_json::from_str(entry).unwrap(), &mut lines);
    }
    lines.extend(CODE.lines().map(str::to_owned));
    lines.sort();
    lines.dedup();
    assert!(lines.len() >= 10_000, "{}", lines.len());
    let hit: Vec<&String> = lines.iter().filter(|line| redactor.text(line) != line.as_str()).collect();
    assert!(
        hit.len() * 100 <= lines.len(),
        "{} of {}: {:#?}",
        hit.len(),
        lines.len(),
        &hit[..hit.len().min(20)]
    );
    let code: Vec<&str> = CODE.lines().filter(|line| redactor.text(line) != *line).collect();
    assert_eq!(code, Vec::<&str>::new());
}

/// Lines that talk of secrets and hold none.
const CODE: &str = r#"let token = lexer.next_token();
const password: string = await prompt("Password: ");
if (!process.env.API_KEY) throw new Error("API_KEY is not set");
api_key = os.environ["OPENAI_API_KEY"]
pub struct Token { kind: TokenKind, span: Span }
fn parse_token(tokens: &[Token]) -> Option<Token>
secret: SecretString,
The bearer authentication scheme is described in the handbook.
Set the authorization token before the first call.
password = getpass.getpass()
export API_KEY=$(pass show api)
API_TOKEN=${API_TOKEN:-}
type AccessToken = string;
tokens: 1234, cost: 0.0012
commit 3f786850e387550fdab836ed7e6dc881de23001b
id: 01972fa7-9000-78ea-9c24-cddfcfcaef47
git clone git@github.com:owner/repo.git
icon@2x.png and sprite@3x.webp
npm install react@18.2.0 @types/node@20.1.0
https://example.org/path?query=1#token
auth: AuthMethod::Basic,
secretName: my-secret-name
token_count += usage.total_tokens
client_secret: <your secret here>
systemctl restart getty@tty1.service
connect(host=host, password=password)
login(user, password=settings.db.password)
password: string;
"password": {"type": "string"}
curl -u "$USER:$TOKEN" https://example.org
curl -uri https://example.org:8080/x
mysql -p shop
mysql -h db -P 3306 -u root -p
password=$(cat file)
The password: at least eight letters.
cd /home && pwd=$PWD
"#;

fn collect(value: &Value, lines: &mut Vec<String>) {
    match value {
        Value::String(text) if text.len() < 100_000 => lines.extend(text.lines().map(str::to_owned)),
        Value::Array(items) => items.iter().for_each(|item| collect(item, lines)),
        Value::Object(members) => {
            members.iter().filter(|(key, _)| *key != "cwd").for_each(|(_, value)| collect(value, lines));
        }
        _ => {}
    }
}

#[test]
fn the_tree_and_images_stay_as_they_are() {
    let redactor = Redactor::new(Some("/srv/ada"), &["ACME-[0-9]+".into()]).unwrap();
    let picture = "iVBORw0KGgo".repeat(40);
    let entry = json!({"type": "message", "id": "ada@example.org", "parentId": "sk-ant-api03-aaaaaaaaaaaaaaaaaaaaaaaa1", "timestamp": "2025-01-01T00:00:00.000Z",
        "message": {"role": "user", "content": [{"type": "image", "data": picture, "mimeType": "image/png"}, {"type": "text", "text": "ask ada@example.org about ACME-42 in /srv/ada/x"}]}});
    let mut out = Vec::new();
    let source = format!("{entry}\nno json ada@example.org");
    let report = redactor.copy(Cursor::new(source), &mut out).unwrap();
    let copy = String::from_utf8(out).unwrap();
    let (first, second) = copy.split_once('\n').unwrap();
    let copy: Value = serde_json::from_str(first).unwrap();
    assert_eq!((&copy["id"], &copy["parentId"]), (&entry["id"], &entry["parentId"]));
    assert_eq!(copy["message"]["content"][0], entry["message"]["content"][0]);
    assert_eq!(
        copy["message"]["content"][1]["text"],
        "ask [redacted e-mail] about [redacted own pattern] in ~/x"
    );
    assert_eq!(second, "no json [redacted e-mail]");
    assert_eq!(report.total(), 4);
    let mails = report.findings.iter().find(|finding| finding.kind == "e-mail").unwrap();
    assert_eq!((mails.count, &mails.lines[..]), (2, &[1, 2][..]));
}

#[test]
fn a_pattern_that_is_none_is_refused() {
    let error = Redactor::new(None, &["(".into()]).unwrap_err();
    assert_eq!(error.to_string(), "`(` is no pattern");
}
