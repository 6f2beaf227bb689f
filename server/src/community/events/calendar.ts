import type { SiteEvent } from './site-event.ts';

/** Octets of a line, without its end (RFC 5545, 3.1). */
const LONGEST_LINE = 75;

/** An event as one VEVENT (RFC 5545). Times are in UTC, which every calendar turns into its reader's own. @param url where the event is read */
export function toCalendar(event: SiteEvent, url: string): string {
  const place = [event.venue_name, event.venue_address].filter((part) => part !== null).join(', ');
  const about = [event.summary, event.description, event.online_url].filter((part) => part).join('\n\n');
  return [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Tallygate//Events//EN',
    'CALSCALE:GREGORIAN',
    'METHOD:PUBLISH',
    'BEGIN:VEVENT',
    `UID:${event.event_id}@tallygate`,
    `DTSTAMP:${utc(event.updated_at)}`,
    `LAST-MODIFIED:${utc(event.updated_at)}`,
    `SEQUENCE:${event.revision}`,
    `DTSTART:${utc(event.starts_at)}`,
    `DTEND:${utc(event.ends_at)}`,
    'STATUS:CONFIRMED',
    `SUMMARY:${escaped(event.title)}`,
    ...(about === '' ? [] : [`DESCRIPTION:${escaped(about)}`]),
    ...(place === '' ? [] : [`LOCATION:${escaped(place)}`]),
    `URL:${url}`,
    'END:VEVENT',
    'END:VCALENDAR',
    '',
  ]
    .map(folded)
    .join('\r\n');
}

/** `20270305T170000Z` */
const utc = (at: Date): string => `${at.toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`;

/** TEXT of RFC 5545, 3.3.11. */
const escaped = (text: string): string => text.replaceAll(/[\\;,]/g, '\\$&').replaceAll('\n', '\\n');

/** Long lines go on after a line end and a space; never in the middle of a character. */
function folded(line: string): string {
  const parts: string[] = [];
  let part = '';
  for (const character of line) {
    if (Buffer.byteLength(part + character) > LONGEST_LINE) {
      parts.push(part);
      part = ' ';
    }
    part += character;
  }
  return [...parts, part].join('\r\n');
}
