//! More of Node's modules: hashes, compression, open files, streams, arguments, dates and numbers in words, schemas.

use serde_json::{Value as Json, json};

use crate::support::stage;

/// Lets an extension evaluate something with some modules.
async fn evaluated(imports: &str, body: &str) -> Json {
    let stage =
        stage(&format!("{imports}\nexport default (pi) => pi.on('x', async (event, ctx) => {{ {body} }})"))
            .await;
    let answer = stage.fire("x", json!({})).await;
    assert_eq!(stage.only().disabled(), None);
    answer
}

#[tokio::test]
async fn hashes_are_those_of_their_standards() {
    let answer = evaluated(
        "import * as crypto from 'node:crypto';",
        "const of = (name) => crypto.createHash(name).update('abc').digest('hex');
         const known = crypto.createHash('sha256'); known.update('a'); const copy = known.copy(); known.update('bc');
         const digest = Buffer.from(await crypto.webcrypto.subtle.digest('SHA-256', new TextEncoder().encode('abc'))).toString('hex');
         const code = (work) => { try { work() } catch (error) { return error.code ?? error.message } };
         return { md5: of('md5'), sha1: of('sha1'), sha384: of('sha384').slice(0, 16), sha512: of('SHA512').slice(0, 16), base64: crypto.createHash('md5').update('abc').digest('base64url'),
             hmac: crypto.createHmac('sha256', 'key').update('The quick brown fox jumps over the lazy dog').digest('hex').slice(0, 16),
             key: crypto.pbkdf2Sync('password', 'salt', 2, 20, 'sha1').toString('hex'), copy: copy.update('bc').digest('hex') === known.digest('hex'),
             digest: digest === of('sha256'), equal: crypto.timingSafeEqual(Buffer.from('a'), Buffer.from('a')), random: crypto.randomBytes(70000).length,
             int: [1, 2].includes(crypto.randomInt(1, 3)), hashes: crypto.getHashes().length, code: code(() => crypto.createHash('none')),
             twice: code(() => { known.digest() }), cipher: code(() => crypto.createCipheriv('aes')) };",
    )
    .await;
    let expected = json!({
        "md5": "900150983cd24fb0d6963f7d28e17f72", "sha1": "a9993e364706816aba3e25717850c26c9cd0d89d", "sha384": "cb00753f45a35e8b",
        "sha512": "ddaf35a193617aba", "base64": "kAFQmDzST7DWlj99KOF_cg", "hmac": "f7bc83f430538424",
        "key": "ea6c014dc72d6f8ccd1ed92ace1d41f0d8de8957", "copy": true, "digest": true, "equal": true,
        "random": 70000, "int": true, "hashes": 6, "code": "ERR_CRYPTO_INVALID_DIGEST", "twice": "ERR_CRYPTO_HASH_FINALIZED",
        "cipher": "crypto.createCipheriv needs Node, which the embedded engine does not have",
    });
    assert_eq!(answer, expected);
}

#[tokio::test]
async fn compressed_bytes_come_back() {
    let answer = evaluated(
        "import * as zlib from 'node:zlib'; import { pipeline } from 'node:stream/promises'; import { PassThrough, Readable } from 'node:stream'; import { promisify } from 'node:util';",
        "const text = 'abc '.repeat(1000); const small = zlib.gzipSync(text);
         const out = new PassThrough(); const parts = []; out.on('data', (part) => parts.push(part));
         await pipeline(Readable.from([Buffer.from(text)]), zlib.createGzip(), zlib.createGunzip(), out);
         const bad = await promisify(zlib.gunzip)(Buffer.from('no')).catch((error) => error.code);
         return { small: small.length < 100, same: zlib.gunzipSync(small).toString() === text, later: (await promisify(zlib.unzip)(zlib.deflateSync('x'))).toString(),
             raw: zlib.inflateRawSync(zlib.deflateRawSync('y')).toString(), piped: Buffer.concat(parts).toString() === text, bad };",
    )
    .await;
    assert_eq!(
        answer,
        json!({"small": true, "same": true, "later": "x", "raw": "y", "piped": true, "bad": "Z_DATA_ERROR"})
    );
}

#[tokio::test]
async fn files_are_opened_streamed_and_changed() {
    let answer = evaluated(
        "import fs from 'node:fs'; import * as promised from 'node:fs/promises'; import * as readline from 'node:readline'; import path from 'node:path';
         import { once } from 'node:events'; import { pipeline } from 'node:stream/promises';",
        "process.env.X; const at = (name) => path.join(ctx.cwd, name); const code = (work) => { try { work(); return 'fine' } catch (error) { return [error.code, error.syscall, error.errno] } };
         const fd = fs.openSync(at('a'), 'w+'); fs.writeSync(fd, 'hello world'); const buffer = Buffer.alloc(5); const count = fs.readSync(fd, buffer, 0, 5, 6);
         const size = fs.fstatSync(fd).size; fs.closeSync(fd); const closed = code(() => fs.fstatSync(fd));
         const handle = await promised.open(at('a')); const { bytesRead } = await handle.read(Buffer.alloc(3), 0, 3, null); const rest = await handle.readFile('utf8'); await handle.close();
         const out = fs.createWriteStream(at('lines')); for (const line of ['one', 'zwöi', 'three']) out.write(line + '\\n'); out.end(); await once(out, 'finish');
         const lines = []; for await (const line of readline.createInterface({ input: fs.createReadStream(at('lines')) })) lines.push(line);
         const part = []; for await (const one of fs.createReadStream(at('a'), { start: 2, end: 4, encoding: 'utf8' })) part.push(one);
         await pipeline(fs.createReadStream(at('lines')), fs.createWriteStream(at('copied')));
         const gone = await once(fs.createReadStream(at('gone')), 'open').catch((error) => error.message);
         fs.mkdirSync(at('d/e'), { recursive: true }); fs.writeFileSync(at('d/e/f'), 'x'); fs.cpSync(at('d'), at('copy'), { recursive: true });
         fs.symlinkSync('a', at('link')); fs.chmodSync(at('a'), 0o600); fs.utimesSync(at('a'), 1, 2); fs.truncateSync(at('copied'), 3);
         const names = []; for await (const entry of await promised.opendir(at('d'))) names.push([entry.name, entry.isDirectory()]);
         const changes = []; fs.watchFile(at('a'), { interval: 50 }, (now, before) => changes.push(now.size - before.size)); fs.appendFileSync(at('a'), '!!');
         await new Promise((resolve) => setTimeout(resolve, 200)); fs.unwatchFile(at('a'));
         return { count, text: buffer.toString(), size, closed, bytesRead, rest, lines, part, same: fs.readFileSync(at('copied'), 'utf8'), gone: gone.replace(ctx.cwd, ''), names, changes,
             all: fs.readdirSync(at('copy'), { recursive: true }), link: [fs.readlinkSync(at('link')), fs.lstatSync(at('link')).isSymbolicLink()], mode: fs.statSync(at('a')).mode & 0o777,
             missing: code(() => fs.readFileSync(at('gone'))), access: code(() => fs.accessSync(at('gone'))), callback: await new Promise((resolve) => fs.stat(at('gone'), (error) => resolve(error.code))),
             rm: code(() => fs.rmSync(at('gone'), { force: true })), exclusive: code(() => fs.copyFileSync(at('a'), at('copied'), fs.constants.COPYFILE_EXCL))[0], none: fs.statSync(at('gone'), { throwIfNoEntry: false }) === undefined };",
    )
    .await;
    let expected = json!({
        "count": 5, "text": "world", "size": 11, "closed": ["EBADF", "stat", -9], "bytesRead": 3, "rest": "lo world", "lines": ["one", "zwöi", "three"],
        "part": ["llo"], "same": "one", "gone": "ENOENT: no such file or directory, open '/gone'", "names": [["e", true]], "changes": [2],
        "all": ["e", "e/f"], "link": ["a", true], "mode": 0o600, "missing": ["ENOENT", "open", -2], "access": ["ENOENT", "access", -2],
        "callback": "ENOENT", "rm": "fine", "exclusive": "EEXIST", "none": true,
    });
    assert_eq!(answer, expected);
}

#[tokio::test]
async fn streams_pass_on_what_they_get() {
    let answer = evaluated(
        "import { Readable, Transform, Writable, pipeline, finished } from 'node:stream'; import { EventEmitter, once } from 'node:events'; import { StringDecoder } from 'node:string_decoder';",
        "const upper = new Transform({ transform(part, encoding, done) { done(null, part.toString().toUpperCase()) }, flush(done) { this.push('!'); done() } });
         const got = []; const slow = new Writable({ highWaterMark: 4, write(part, encoding, done) { got.push(part.toString()); setTimeout(done, 1) } });
         await new Promise((resolve, reject) => pipeline(Readable.from(['one', 'two', 'three']), upper, slow, (error) => error ? reject(error) : resolve()));
         const failed = await new Promise((resolve) => pipeline(new Readable({ read() { this.destroy(new Error('broken')) } }), new Writable({ write: (a, b, done) => done() }), (error) => resolve(error.message)));
         const manual = new Readable({ read() {} }); manual.push('a'); manual.push('b'); manual.push(null); let text = ''; manual.setEncoding('utf8'); manual.on('data', (part) => (text += part)); await once(manual, 'end');
         const objects = await new Readable({ objectMode: true, read() { this.push({ a: 1 }); this.push(null) } }).toArray();
         const closed = await new Promise((resolve) => { const one = new Readable({ read() {} }); finished(one, (error) => resolve(error.code)); one.destroy() });
         const decoder = new StringDecoder('utf8'); const bytes = Buffer.from('é'); const late = new Writable({ write: (a, b, done) => done() }); late.on('error', () => {}); late.end();
         const after = await new Promise((resolve) => late.write('x', (error) => resolve(error.code)));
         const emitter = new EventEmitter(); const seen = []; emitter.on('newListener', (name) => seen.push(name)); emitter.once('a', () => seen.push('ran')); emitter.emit('a'); emitter.emit('a');
         return { got: got.join(''), failed, text, objects, closed, piece: [decoder.write(bytes.subarray(0, 1)), decoder.end(bytes.subarray(1))], after, seen, full: new Writable({ highWaterMark: 1 }).write('xx') };",
    )
    .await;
    let expected = json!({
        "got": "ONETWOTHREE!", "failed": "broken", "text": "ab", "objects": [{"a": 1}], "closed": "ERR_STREAM_PREMATURE_CLOSE", "piece": ["", "é"],
        "after": "ERR_STREAM_WRITE_AFTER_END", "seen": ["a", "ran"], "full": false,
    });
    assert_eq!(answer, expected);
}

#[tokio::test]
async fn values_are_spelled_and_arguments_read() {
    let answer = evaluated(
        "import util from 'node:util'; import path from 'node:path'; import querystring from 'node:querystring'; import { AsyncLocalStorage } from 'node:async_hooks'; import { setTimeout as wait } from 'node:timers/promises';",
        "const store = new AsyncLocalStorage(); const { values, positionals } = util.parseArgs({ args: ['-vn', '3', '--tag=a', '--tag', 'b', 'file'], allowPositionals: true,
             options: { verbose: { type: 'boolean', short: 'v' }, number: { type: 'string', short: 'n' }, tag: { type: 'string', multiple: true } } });
         class Point { constructor() { this.x = 1 } } const circle = { name: 'c' }; circle.self = circle;
         return { object: util.inspect({ a: 'b', list: [1, 2n, null], map: new Map([[1, new Set(['x'])]]), f() {}, deep: { a: { b: { c: 1 } } } }), point: util.inspect(new Point()), circle: util.inspect(circle),
             format: util.format('%s is %d and %j', 'a', '4', { b: 1 }, 'more'), values: { ...values }, positionals, strip: util.stripVTControlCharacters(util.styleText(['bold', 'red'], 'x')), style: util.styleText('red', 'x'),
             deep: [util.isDeepStrictEqual({ a: [new Date(1)] }, { a: [new Date(1)] }), util.isDeepStrictEqual(new Set([1]), new Set([2]))], types: util.types.isPromise(wait(0)),
             win: [path.win32.join('C:\\\\a', '..', 'b/c'), path.win32.basename('C:\\\\x\\\\y.ts', '.ts'), path.posix.join('a', 'b')], query: querystring.stringify({ a: [1, 2], b: 'x y' }), parsed: querystring.parse('a=1&a=2&b=x+y').b,
             stored: [store.run(5, () => store.getStore()), await store.run(6, async () => { await wait(1); return store.getStore() }), store.getStore() === undefined], buffer: Buffer.from('ÿ', 'latin1').readUInt8(0), hex: Buffer.from([1, 255]).toString('hex'), utf16: Buffer.from('hé', 'utf16le').toString('utf16le'), at: Buffer.from('hello').indexOf('lo'), be: Buffer.from([1, 2, 3, 4]).readUInt32BE(), blob: await new Blob(['a', new Uint8Array([98])]).text() };",
    )
    .await;
    let expected = json!({
        "object": "{\n  a: 'b',\n  list: [ 1, 2n, null ],\n  map: Map(1) { 1 => Set(1) { 'x' } },\n  f: [Function: f],\n  deep: { a: { b: [Object] } }\n}",
        "point": "Point { x: 1 }", "circle": "{ name: 'c', self: [Circular *1] }", "format": "a is 4 and {\"b\":1} more",
        "values": {"verbose": true, "number": "3", "tag": ["a", "b"]}, "positionals": ["file"], "strip": "x", "style": "\u{1b}[31mx\u{1b}[39m",
        "deep": [true, false], "types": true, "win": ["C:\\b\\c", "y", "a/b"], "query": "a=1&a=2&b=x%20y", "parsed": "x y", "stored": [5, 6, true],
        "buffer": 255, "hex": "01ff", "utf16": "hé", "at": 3, "be": 16_909_060, "blob": "ab",
    });
    assert_eq!(answer, expected);
}

#[tokio::test]
async fn numbers_dates_and_texts_are_written_in_english() {
    let answer = evaluated(
        "",
        "const date = new Date(Date.UTC(2025, 0, 5, 15, 4, 9)); const utc = { timeZone: 'UTC' }; const number = (value, options) => new Intl.NumberFormat('en-US', options).format(value);
         const day = (options) => new Intl.DateTimeFormat('en-US', { ...utc, ...options }).format(date); const ago = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
         return {
             numbers: [number(1234567.891), number(0.256, { style: 'percent' }), number(1234.5, { style: 'currency', currency: 'USD' }), number(-5.005, { minimumFractionDigits: 2, maximumFractionDigits: 2 }), number(1234, { notation: 'compact' }), number(15300, { notation: 'compact', maximumFractionDigits: 1 }), (1234.5).toLocaleString(), 12345678901n.toLocaleString()],
             dates: [day(), day({ dateStyle: 'medium', timeStyle: 'short' }), day({ weekday: 'short', month: 'long', day: 'numeric', year: 'numeric' }), day({ hour: '2-digit', minute: '2-digit', hour12: false }), date.toLocaleDateString('en-US', utc), date.toLocaleTimeString('en-US', utc), date.toLocaleString('en-US', utc)],
             zone: typeof Intl.DateTimeFormat().resolvedOptions().timeZone, sorted: ['b10', 'a', 'B2', 'á'].sort(new Intl.Collator('en', { numeric: true }).compare), compared: ['a'.localeCompare('B'), 'a'.localeCompare('A', 'en', { sensitivity: 'base' })],
             list: [new Intl.ListFormat('en').format(['a', 'b', 'c']), new Intl.ListFormat('en', { type: 'disjunction' }).format(['a', 'b'])], ago: [ago.format(-1, 'day'), ago.format(3, 'hours'), ago.format(-2, 'weeks')],
             plural: [new Intl.PluralRules('en').select(1), new Intl.PluralRules('en', { type: 'ordinal' }).select(22)],
             graphemes: [...new Intl.Segmenter('en').segment('a👩‍👧e\\u0301')].map((one) => [one.segment.length, one.index]), words: [...new Intl.Segmenter('en', { granularity: 'word' }).segment('Hi, you')].filter((one) => one.isWordLike).map((one) => one.segment),
         };",
    )
    .await;
    let expected = json!({
        "numbers": ["1,234,567.891", "26%", "$1,234.50", "-5.01", "1.2K", "15.3K", "1,234.5", "12,345,678,901"],
        "dates": ["1/5/2025", "Jan 5, 2025, 3:04 PM", "Sun, January 5, 2025", "15:04", "1/5/2025", "3:04:09 PM", "1/5/2025, 3:04:09 PM"],
        "zone": "string", "sorted": ["a", "á", "B2", "b10"], "compared": [-1, 0], "list": ["a, b, and c", "a or b"],
        "ago": ["yesterday", "in 3 hours", "2 weeks ago"], "plural": ["one", "two"], "graphemes": [[1, 0], [5, 1], [2, 6]], "words": ["Hi", "you"],
    });
    assert_eq!(answer, expected);
}

#[tokio::test]
async fn values_are_checked_against_schemas() {
    let answer = evaluated(
        "import { Type, Kind } from 'typebox'; import { Value } from 'typebox/value'; import { TypeCompiler } from '@sinclair/typebox/compiler'; import { Value as Older } from '@sinclair/typebox/value';",
        "const schema = Type.Object({ name: Type.String({ minLength: 2 }), age: Type.Optional(Type.Integer({ minimum: 0 })), tags: Type.Array(Type.Union([Type.Literal('a'), Type.Literal('b')]), { default: [] }), on: Type.Boolean({ default: true }) }, { additionalProperties: false });
         const compiled = TypeCompiler.Compile(schema); const good = { name: 'xy', tags: ['a'], on: false };
         const date = Type.Transform(Type.String()).Decode((text) => new Date(text)).Encode((value) => value.toISOString()); const coded = Type.Object({ at: date });
         const node = Type.Recursive((self) => Type.Object({ next: Type.Optional(self), id: Type.Number() }), { $id: 'Node' });
         return { json: JSON.stringify(schema).includes('additionalProperties') && schema.required.join() === 'name,tags,on' && schema[Kind] === 'Object', good: [Value.Check(schema, good), compiled.Check(good), Older.Check(schema, { ...good, age: -1 })],
             errors: [...Value.Errors(schema, { name: 'x', age: 1.5, tags: ['c'], more: 1 })].map((error) => error.path + ': ' + error.message), first: compiled.Errors({}).First().path,
             filled: Value.Default(schema, { name: 'xy' }), cleaned: Value.Clean(schema, { name: 'xy', more: 1 }), converted: Value.Convert(schema, { name: 5, age: '7', on: 'false' }), created: Value.Create(schema),
             decoded: Value.Decode(coded, { at: '2025-01-01T00:00:00.000Z' }).at instanceof Date, encoded: Value.Encode(coded, { at: new Date(0) }).at, parsed: Value.Parse(schema, { name: 'xy', age: '3', other: 1 }), thrown: (() => { try { Value.Parse(schema, {}) } catch (error) { return error.constructor.name } })(),
             recursive: [Value.Check(node, { id: 1, next: { id: 2 } }), Value.Check(node, { id: 1, next: { id: 'x' } })], picked: Object.keys(Type.Pick(schema, ['age']).properties), required: Type.Required(Type.Partial(schema)).required.length, keys: Type.KeyOf(schema).anyOf.length, record: Value.Check(Type.Record(Type.String(), Type.Number()), { a: 1, b: 'x' }), tuple: Value.Check(Type.Tuple([Type.Number(), Type.String()]), [1, 'a']), format: Value.Check(Type.String({ format: 'email' }), 'no') };",
    )
    .await;
    let expected = json!({
        "json": true, "good": [true, true, false],
        "errors": ["/on: Expected required property", "/name: Expected string length greater or equal to 2", "/age: Expected an integer", "/tags/0: Expected union value", "/more: Unexpected property"],
        "first": "/name", "filled": {"name": "xy", "tags": [], "on": true}, "cleaned": {"name": "xy"}, "converted": {"name": "5", "age": 7, "on": false},
        "created": {"name": "", "tags": [], "on": true}, "decoded": true, "encoded": "1970-01-01T00:00:00.000Z", "parsed": {"name": "xy", "age": 3, "tags": [], "on": true},
        "thrown": "AssertError", "recursive": [true, false], "picked": ["age"], "required": 4, "keys": 4, "record": false, "tuple": true, "format": false,
    });
    assert_eq!(answer, expected);
}
