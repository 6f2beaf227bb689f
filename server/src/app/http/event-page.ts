import { rfc3339 } from '../../kernel/clock.ts';
import { escapeHtml, jsonForScript } from '../../kernel/html.ts';
import { formatUsd } from '../../kernel/money.ts';
import { pagePolicy } from '../../kernel/page-policy.ts';

const STYLE = `body{font:16px/1.6 system-ui,sans-serif;max-width:34rem;margin:8vh auto;padding:0 1.25rem;color:#1c2024;background:#fff;overflow-wrap:anywhere}
h1{line-height:1.25;margin:0 0 .5rem}h2{margin:2rem 0 .25rem;font-size:1.2rem}.summary{font-size:1.1rem;margin-top:0}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.4rem 1.25rem;margin:1.5rem 0;padding:1rem 0;border:solid #8b8d98;border-width:1px 0}dt{font-weight:600}dd{margin:0;min-width:0}
label{display:block;font-weight:600;margin:1rem 0 .25rem}input{font:inherit;width:100%;box-sizing:border-box;padding:.6rem .7rem;border:1px solid #8b8d98;border-radius:8px;background:inherit;color:inherit}
.tick{font-weight:400}.tick input{width:auto}
button{font:inherit;font-weight:600;margin-top:1.25rem;padding:.65rem 1.2rem;border:0;border-radius:8px;background:#1f6feb;color:#fff}
.said{padding:.8rem 1rem;border:1px solid #8b8d98;border-left:5px solid #1f6feb;border-radius:8px}a{color:#0b5cd5}.prose{white-space:pre-line}
@media(prefers-color-scheme:dark){body{color:#edeef0;background:#111113}a{color:#79b8ff}}`;

/** Of every page here. Forms go to this server alone, and nothing is loaded or run; what is in a `<script>` is data. */
export const EVENT_PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': pagePolicy({ style: STYLE, formAction: ["'self'"] }),
};

/** What a page shows of an event. */
export interface ShownEvent {
  readonly slug: string;
  readonly title: string;
  readonly summary: string;
  readonly description: string;
  readonly starts_at: Date;
  readonly ends_at: Date;
  readonly time_zone: string;
  readonly venue_name: string | null;
  readonly venue_address: string | null;
  readonly online_url: string | null;
  readonly price_nano: bigint;
  /** Null: any number. */
  readonly placesLeft: number | null;
  readonly isOpen: boolean;
}

/** The values of the sent form, and the message about it. */
export interface Reply {
  readonly sentence: string;
  readonly email: string;
  readonly name: string;
  readonly wantsNews: boolean;
  /** It was taken: the form is not shown again. */
  readonly isDone: boolean;
}

/** @param jsonLd of schema.org, for search engines */
export function eventPage(event: ShownEvent, jsonLd: unknown, reply?: Reply): string {
  const { title, summary, description, slug } = event;
  const paragraphs = [
    ...(summary === '' ? [] : [`<p class="summary">${escapeHtml(summary)}</p>`]),
    facts(event),
    ...(description === '' ? [] : [`<p class="prose">${escapeHtml(description)}</p>`]),
    `<p><a href="/v1/events/${encodeURIComponent(slug)}.ics">Add it to your calendar</a></p>`,
    taking(event, reply),
  ];
  return page(title, `${paragraphs.join('\n')}\n<script type="application/ld+json">${jsonForScript(jsonLd)}</script>`);
}

/** @param until when the place expires */
export function payPage(event: ShownEvent, email: string, until: Date): string {
  const held = `A place is held for ${escapeHtml(email)} until ${timeThere(until, event.time_zone)}. It is yours once $${formatUsd(event.price_nano)} are paid.`;
  return page(event.title, `${facts(event)}<p>${held}</p><form method="post"><button>Go on to the payment</button></form>`);
}

/** Leads on to the hosted page. By a link, since what a form leads to by a redirect is held to the same rule as the form. */
export const onwardPage = (event: Pick<ShownEvent, 'title'>, url: string): string =>
  page(
    event.title,
    `<p class="said" role="status">The page to pay on is open.</p><p><a href="${escapeHtml(url)}">Pay for the place</a></p>`,
    `<meta http-equiv="refresh" content="1;url=${escapeHtml(url)}">`,
  );

/** One sentence, where there is nothing else to show. */
export const sentencePage = (title: string, sentence: string): string => page(title, `<p>${escapeHtml(sentence)}</p>`);

function facts(event: ShownEvent): string {
  const { venue_name, venue_address, online_url, price_nano } = event;
  const venue = [venue_name, venue_address]
    .filter((part) => part !== null)
    .map(escapeHtml)
    .join('<br>');
  const online = online_url === null ? '' : `<a href="${escapeHtml(online_url)}" rel="noreferrer">${escapeHtml(online_url)}</a>`;
  const rows = [
    ['When', `<time datetime="${rfc3339(event.starts_at)}">${escapeHtml(timesThere(event))}</time>`],
    ...(venue === '' ? [] : [['Where', venue]]),
    ...(online === '' ? [] : [['Online', online]]),
    ['Price', price_nano === 0n ? 'Free' : `$${formatUsd(price_nano)}`],
    ['Places', places(event)],
  ];
  return `<dl>${rows.map(([name, value]) => `<dt>${name}</dt><dd>${value}</dd>`).join('')}</dl>`;
}

function places({ isOpen, placesLeft }: ShownEvent): string {
  if (!isOpen) return 'Registration is closed';
  if (placesLeft === null) return 'Open to everybody';
  if (placesLeft === 0) return 'All are taken; there is a waitlist';
  return placesLeft === 1 ? '1 is left' : `${placesLeft} are left`;
}

function taking({ isOpen, placesLeft }: ShownEvent, reply: Reply | undefined): string {
  const said = reply ? `<p class="said" role="${reply.isDone ? 'status' : 'alert'}">${escapeHtml(reply.sentence)}</p>` : '';
  if (!isOpen || reply?.isDone) return said;
  return `<h2>Take part</h2>${said}<form method="post">
<label for="email">E-mail address</label><input id="email" name="email" type="email" autocomplete="email" maxlength="254" required value="${escapeHtml(reply?.email ?? '')}">
<label for="name">Name (if you like)</label><input id="name" name="name" autocomplete="name" maxlength="200" value="${escapeHtml(reply?.name ?? '')}">
<label class="tick"><input type="checkbox" name="news"${reply?.wantsNews ? ' checked' : ''}> I want news by mail; a mail will ask me to confirm it.</label>
<button>${placesLeft === 0 ? 'Join the waitlist' : 'Register'}</button></form>`;
}

const TIME = { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric', hour: '2-digit', minute: '2-digit' } as const;

const formatFor = (timeZone: string) => new Intl.DateTimeFormat('en-GB', { ...TIME, timeZoneName: 'short', timeZone });

const timesThere = ({ starts_at, ends_at, time_zone }: ShownEvent): string => formatFor(time_zone).formatRange(starts_at, ends_at);

/** `Friday, 5 March 2027 at 18:00 CET` */
export const timeThere = (at: Date, timeZone: string): string => formatFor(timeZone).format(at);

const page = (title: string, content: string, head = ''): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">${head}<title>${escapeHtml(title)}</title><style>${STYLE}</style></head>
<body><main><h1>${escapeHtml(title)}</h1>${content}</main></body></html>
`;
