const USD = new Intl.NumberFormat('en', { style: 'currency', currency: 'USD', minimumFractionDigits: 2, maximumFractionDigits: 2 });
const WHOLE = new Intl.NumberFormat('en');
const SHORT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const MOMENT = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium' });
const BRIEF = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', hour12: false });
const DAY = new Intl.DateTimeFormat('en', { dateStyle: 'medium' });

/** "12.5" → "$12.50"; what has fractions of a cent, below $100, keeps all its digits: "$0.00003645". */
export function usd(amount: string): string {
  const hasFractions = /\.\d{3,}$/.test(amount) && Math.abs(Number(amount)) < 100;
  return hasFractions ? amount.replace(/^(-?)/, '$1$') : USD.format(Number(amount));
}

/** Moves the decimal point to the right, exactly: ("0.000000075", 6) → "0.075". */
export function shifted(amount: string, places: number): string {
  const [whole = '0', part = ''] = amount.split('.');
  const digits = part.padEnd(places, '0');
  const left = `${whole}${digits.slice(0, places)}`.replace(/^0+(?=\d)/, '');
  const right = digits.slice(places).replace(/0+$/, '');
  return right === '' ? left : `${left}.${right}`;
}

export const NANO_DIGITS = 9;
export const PICO_DIGITS = 12;

/** A whole number of 10^-digits USD as a decimal string: ("1500", 9) → "0.0000015". */
export function decimal(amount: string, digits: number): string {
  const [sign, whole] = amount.startsWith('-') ? ['-', amount.slice(1)] : ['', amount];
  const padded = whole.padStart(digits + 1, '0');
  return sign + `${padded.slice(0, -digits)}.${padded.slice(-digits)}`.replace(/\.?0+$/, '');
}

export const count = (value: number): string => WHOLE.format(value);
export const short = (value: number): string => SHORT.format(value);
export const moment = (at: string | null): string => (at === null ? '–' : MOMENT.format(new Date(at)));
/** Without year and seconds, for narrow columns. */
export const briefMoment = (at: string): string => BRIEF.format(new Date(at));
/** On one line, however narrow the column is. */
export const day = (at: string | null): string => (at === null ? '–' : DAY.format(new Date(at)).replaceAll(' ', '\u00a0'));

/** "2.1 s", "340 ms" */
export function duration(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(ms < 10_000 ? 2 : 1)} s`;
}

/** "2026-11-25" of a date, UTC. */
export const isoDay = (date: Date): string => date.toISOString().slice(0, 10);

/** The day so many days ago, UTC. */
export const daysAgo = (days: number): string => isoDay(new Date(Date.now() - days * 86_400_000));

/** The first day of the present month, UTC. */
export const monthStart = (): string => `${isoDay(new Date()).slice(0, 8)}01`;

/** A moment as an input of `datetime-local` has it, in the time zone of the browser; '' for none. */
export function inputTime(at: string | null): string {
  if (at === null) return '';
  const time = new Date(at);
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** What such an input says, RFC 3339; null where it is empty. */
export const timeIn = (text: string | undefined): string | null => (text === undefined ? null : new Date(text).toISOString());

/** Unix seconds as the API has moments elsewhere. */
export const fromUnix = (seconds: number): string => new Date(seconds * 1_000).toISOString();

const BYTES_OF_UNIT = 1_000;
/** "12.3 MB" */
export function size(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB'] as const;
  const step = bytes < BYTES_OF_UNIT ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3));
  return `${(bytes / BYTES_OF_UNIT ** step).toFixed(step === 0 ? 0 : 1)} ${units[step]}`;
}
