// `Intl` for English: numbers, dates, order, lists, plurals and segments of text. The engine has none of it.

import { call, provide } from "offshoot:native";

const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"];
const localeOf = (locales) => [locales].flat()[0] ?? "en-US";

class Formatter {
  constructor(locales, options = {}) {
    this.locale = String(localeOf(locales));
    this.options = options ?? {};
  }
  resolvedOptions() {
    return { locale: this.locale, numberingSystem: "latn", ...this.options };
  }
  static supportedLocalesOf(locales) {
    return [locales].flat();
  }
}

const CURRENCIES = { USD: "$", EUR: "€", GBP: "£", JPY: "¥", INR: "₹", CNY: "CN¥", KRW: "₩" };
const UNITS = {
  byte: "byte", kilobyte: "kB", megabyte: "MB", gigabyte: "GB", second: "sec", minute: "min", hour: "hr", day: "day", millisecond: "ms",
  percent: "%", meter: "m", kilometer: "km", celsius: "°C",
};

export class NumberFormat extends Formatter {
  #digits(isCompact) {
    const { style, currency, minimumFractionDigits: low, maximumFractionDigits: high } = this.options;
    const usual = style === "currency" ? (["JPY", "KRW"].includes(currency) ? [0, 0] : [2, 2]) : style === "percent" || isCompact ? [0, 0] : [0, 3];
    const most = high ?? Math.max(usual[1], low ?? 0);
    return [Math.min(low ?? usual[0], most), most];
  }
  #plain(value, isCompact) {
    const { maximumSignificantDigits: significant, useGrouping = true, minimumIntegerDigits: least = 1 } = this.options;
    const [low, high] = this.#digits(isCompact);
    let text;
    if (significant !== undefined) text = String(Number(value.toPrecision(significant)));
    else if (isCompact && high === 0 && value < 100) text = String(Number(value.toPrecision(2)));
    else text = rounded(value, high);
    const [whole, rest = ""] = text.split(".");
    let kept = rest;
    while (kept.length > low && kept.endsWith("0")) kept = kept.slice(0, -1);
    const padded = whole.padStart(least, "0");
    const grouped = useGrouping ? padded.replace(/\B(?=(\d{3})+(?!\d))/g, ",") : padded;
    return kept ? `${grouped}.${kept}` : grouped;
  }
  format(given) {
    const { style, currency = "USD", currencyDisplay, unit, unitDisplay = "short", notation, compactDisplay, signDisplay } = this.options;
    const number = typeof given === "bigint" ? Number(given) : Number(given);
    if (Number.isNaN(number)) return "NaN";
    let value = Math.abs(style === "percent" ? number * 100 : number);
    let end = "";
    if (notation === "compact" && value >= 1000) {
      const power = Math.min(4, Math.floor(Math.log10(value) / 3));
      value /= 1000 ** power;
      end = compactDisplay === "long" ? ["", " thousand", " million", " billion", " trillion"][power] : ["", "K", "M", "B", "T"][power];
    }
    const text = (Number.isFinite(value) ? this.#plain(value, notation === "compact") : "∞") + end;
    const isNegative = number < 0 || Object.is(number, -0);
    const sign = isNegative && signDisplay !== "never" ? "-" : signDisplay === "always" || (signDisplay === "exceptZero" && number !== 0) ? "+" : "";
    if (style === "percent") return `${sign}${text}%`;
    if (style === "unit") return `${sign}${text}${unitDisplay === "narrow" ? "" : " "}${unitDisplay === "long" || !UNITS[unit] ? unit + (number === 1 ? "" : "s") : UNITS[unit]}`;
    if (style !== "currency") return sign + text;
    const symbol = currencyDisplay === "code" ? `${currency} ` : CURRENCIES[currency] ?? `${currency} `;
    return `${sign}${symbol}${text}`;
  }
  formatToParts(value) {
    return [{ type: "literal", value: this.format(value) }];
  }
}

/// Rounds half up, as a reader of the decimal number does.
function rounded(value, digits) {
  if (value >= 1e21) return BigInt(Math.round(value)).toString();
  const fixed = value.toFixed(digits);
  const exact = Number(`${Math.round(Number(`${value}e${digits}`))}e-${digits}`);
  return Number.isNaN(exact) ? fixed : exact.toFixed(digits);
}

export class DateTimeFormat extends Formatter {
  constructor(locales, options) {
    super(locales, options);
    const zone = this.options.timeZone;
    if (zone !== undefined && zone !== "UTC" && zone !== "GMT" && zone !== "Etc/UTC" && zone !== localZone()) {
      throw new RangeError(`The time zone ${zone} needs Node, which the embedded engine does not have`);
    }
  }
  resolvedOptions() {
    return { ...super.resolvedOptions(), calendar: "gregory", timeZone: this.options.timeZone ?? localZone() };
  }
  formatToParts(given = new Date()) {
    const date = new Date(given);
    if (Number.isNaN(date.getTime())) throw new RangeError("Invalid time value");
    const options = completed(this.options);
    const utc = options.timeZone !== undefined && options.timeZone !== localZone() ? "UTC" : "";
    const get = (name) => date[`get${utc}${name}`]();
    const days = dateParts(options, get);
    const times = timeParts(options, get, date);
    const literal = days.length > 0 && times.length > 0 ? [{ type: "literal", value: options.dateStyle && ["full", "long"].includes(options.dateStyle) ? " at " : ", " }] : [];
    return [...days, ...literal, ...times];
  }
  format(given) {
    return this.formatToParts(given).map((part) => part.value).join("");
  }
  formatRange(from, to) {
    return `${this.format(from)} – ${this.format(to)}`;
  }
}

function localZone() {
  const offset = -new Date().getTimezoneOffset();
  if (globalThis.process.env.TZ) return globalThis.process.env.TZ.replace(/^:/, "");
  return offset === 0 ? "UTC" : `Etc/GMT${offset > 0 ? "-" : "+"}${Math.abs(offset / 60)}`;
}

const DATE_STYLES = {
  full: { weekday: "long", month: "long", day: "numeric", year: "numeric" }, long: { month: "long", day: "numeric", year: "numeric" },
  medium: { month: "short", day: "numeric", year: "numeric" }, short: { month: "numeric", day: "numeric", year: "2-digit" },
};
const TIME_STYLES = {
  full: { hour: "numeric", minute: "2-digit", second: "2-digit", timeZoneName: "short" },
  long: { hour: "numeric", minute: "2-digit", second: "2-digit", timeZoneName: "short" },
  medium: { hour: "numeric", minute: "2-digit", second: "2-digit" }, short: { hour: "numeric", minute: "2-digit" },
};

/// Adds what a style means, or a plain date if nothing is asked for.
function completed(options) {
  const styled = { ...DATE_STYLES[options.dateStyle], ...TIME_STYLES[options.timeStyle], ...options };
  const asked = ["weekday", "year", "month", "day", "hour", "minute", "second", "fractionalSecondDigits", "dayPeriod"];
  return asked.some((name) => styled[name] !== undefined) ? styled : { month: "numeric", day: "numeric", year: "numeric", ...styled };
}

const two = (value, style) => (style === "2-digit" ? String(value % 100).padStart(2, "0") : String(value));
const cut = (name, style) => (style === "long" ? name : style === "narrow" ? name[0] : name.slice(0, 3));

function dateParts({ weekday, month, day, year }, get) {
  const parts = [];
  const add = (type, value, before) => {
    if (parts.length > 0) parts.push({ type: "literal", value: before });
    parts.push({ type, value });
  };
  const isWord = ["long", "short", "narrow"].includes(month);
  if (weekday) add("weekday", cut(DAYS[get("Day")], weekday), "");
  if (month) add("month", isWord ? cut(MONTHS[get("Month")], month) : two(get("Month") + 1, month), ", ");
  if (day) add("day", two(get("Date"), day), isWord ? " " : month ? "/" : " ");
  if (year) add("year", two(get("FullYear"), year), isWord ? (day ? ", " : " ") : parts.length > 0 && !month && !day ? ", " : "/");
  return parts;
}

function timeParts({ hour, minute, second, hour12, hourCycle, timeZoneName, timeZone, fractionalSecondDigits: fraction }, get, date) {
  const parts = [];
  const is24 = hour12 === false || (hour12 === undefined && (hourCycle === "h23" || hourCycle === "h24"));
  const add = (type, value) => {
    if (parts.length > 0) parts.push({ type: "literal", value: type === "fractionalSecond" ? "." : ":" });
    parts.push({ type, value });
  };
  const hours = get("Hours");
  if (hour) add("hour", is24 ? String(hours).padStart(2, "0") : two(hours % 12 || 12, hour));
  if (minute) add("minute", hour || second ? String(get("Minutes")).padStart(2, "0") : String(get("Minutes")));
  if (second) add("second", minute ? String(get("Seconds")).padStart(2, "0") : two(get("Seconds"), second));
  if (fraction) add("fractionalSecond", String(get("Milliseconds")).padStart(3, "0").slice(0, fraction));
  if (hour && !is24) parts.push({ type: "literal", value: " " }, { type: "dayPeriod", value: hours < 12 ? "AM" : "PM" });
  if (timeZoneName) {
    const offset = timeZone ? 0 : -date.getTimezoneOffset();
    const [whole, rest] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60];
    const name = offset === 0 ? "UTC" : `GMT${offset < 0 ? "-" : "+"}${whole}${rest ? `:${rest}` : ""}`;
    parts.push({ type: "literal", value: " " }, { type: "timeZoneName", value: name });
  }
  return parts;
}

export class Collator extends Formatter {
  compare = (a, b) => {
    const { numeric, sensitivity } = this.options;
    const plain = (text) => String(text).normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
    const order = numeric ? byNumbers(plain(a), plain(b)) : sign(plain(a), plain(b));
    if (order !== 0 || sensitivity === "base") return order;
    const accents = sign(String(a).normalize("NFD").toLowerCase(), String(b).normalize("NFD").toLowerCase());
    if (accents !== 0 || sensitivity === "accent") return accents;
    // Small letters come before capital ones.
    return a === b ? 0 : a > b ? -1 : 1;
  };
}

const sign = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

function byNumbers(a, b) {
  const [one, two] = [a, b].map((text) => text.match(/\d+|\D+/g) ?? []);
  for (let at = 0; at < Math.min(one.length, two.length); at++) {
    const isNumber = /^\d/.test(one[at]) && /^\d/.test(two[at]);
    const order = isNumber ? Math.sign(Number(one[at]) - Number(two[at])) : sign(one[at], two[at]);
    if (order !== 0) return order;
  }
  return Math.sign(one.length - two.length);
}

export class PluralRules extends Formatter {
  select(value) {
    if (this.options.type !== "ordinal") return Number(value) === 1 ? "one" : "other";
    const [ten, hundred] = [value % 10, value % 100];
    if (ten === 1 && hundred !== 11) return "one";
    if (ten === 2 && hundred !== 12) return "two";
    return ten === 3 && hundred !== 13 ? "few" : "other";
  }
}

export class ListFormat extends Formatter {
  format(values) {
    const list = [...values];
    const { type = "conjunction", style = "long" } = this.options;
    const word = type === "disjunction" ? "or" : type === "unit" ? "" : style === "long" ? "and" : "&";
    if (list.length < 2) return list.join("");
    if (type === "unit") return list.join(style === "narrow" ? " " : ", ");
    if (list.length === 2) return list.join(` ${word} `);
    return `${list.slice(0, -1).join(", ")}, ${word} ${list.at(-1)}`;
  }
}

export class RelativeTimeFormat extends Formatter {
  format(value, given) {
    const unit = String(given).replace(/s$/, "");
    const named = { "day:0": "today", "day:1": "tomorrow", "day:-1": "yesterday", "second:0": "now" };
    if (this.options.numeric === "auto") {
      if (named[`${unit}:${value}`]) return named[`${unit}:${value}`];
      if ([0, 1, -1].includes(value) && !["day", "second"].includes(unit) && !(value !== 0 && ["hour", "minute"].includes(unit))) {
        return `${{ "-1": "last", 0: "this", 1: "next" }[value]} ${unit}`;
      }
    }
    const isShort = this.options.style === "short" || this.options.style === "narrow";
    const names = { second: "sec.", minute: "min.", hour: "hr.", day: "day", week: "wk.", month: "mo.", quarter: "qtr.", year: "yr." };
    const amount = Math.abs(value);
    const word = isShort ? names[unit] + (unit === "day" && amount !== 1 ? "s" : "") : unit + (amount === 1 ? "" : "s");
    const text = `${new NumberFormat().format(amount)} ${word}`;
    return value < 0 || Object.is(value, -0) ? `${text} ago` : `in ${text}`;
  }
}

export class Segmenter extends Formatter {
  segment(input) {
    const text = String(input);
    const kind = this.options.granularity ?? "grapheme";
    const list = () => call("text.segments", { text, kind }).map(([segment, index, isWordLike]) =>
      ({ segment, index, input: text, ...(kind === "word" ? { isWordLike } : {}) }));
    return {
      [Symbol.iterator]: () => list()[Symbol.iterator](),
      containing: (index = 0) => list().find((one) => index >= one.index && index < one.index + one.segment.length),
    };
  }
}

export class DisplayNames extends Formatter {
  of(code) {
    return String(code);
  }
}

export const Intl = {
  NumberFormat, DateTimeFormat, Collator, PluralRules, ListFormat, RelativeTimeFormat, Segmenter, DisplayNames,
  getCanonicalLocales: (locales) => [locales ?? []].flat(),
  supportedValuesOf: () => [],
};
// Both work without `new`.
for (const name of ["NumberFormat", "DateTimeFormat", "Collator"]) {
  Intl[name] = new Proxy(Intl[name], { apply: (Class, _, args) => new Class(...args) });
}

provide("intl", { Intl });
