/** What a mail says, before anybody's name is in it. */
export interface Template {
  readonly subject: string;
  readonly text: string;
  /** Null: generated from the text. */
  readonly html: string | null;
  readonly variables: Readonly<Record<string, string>>;
}

/** Whom a mail is for. */
export interface Addressee {
  readonly email: string;
  readonly name: string | null;
  readonly company: string | null;
}

export interface Rendered {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

const BUILT_IN = ['name', 'first_name', 'company', 'email', 'unsubscribe_url'] as const;
/** `{{name}}`, `{{ first_name | there }}` */
const PLACE = /\{\{\s*([a-z][a-z0-9_]*)\s*(?:\|([^{}]*))?\}\}/g;

/** The variables of a template without a value. */
export function unknownVariables({ subject, text, html, variables }: Template): string[] {
  const known = new Set<string>([...BUILT_IN, ...Object.keys(variables)]);
  const named = [subject, text, html ?? ''].flatMap((part) => [...part.matchAll(PLACE)].map(([, name = '']) => name));
  return [...new Set(named)].filter((name) => !known.has(name));
}

/** The end of every marketing mail. */
export interface Footer {
  readonly unsubscribeUrl: string;
  /** Of the sender, on one line: the law of many countries asks for it (in the USA 15 U.S.C. 7704(a)(5)). */
  readonly postalAddress?: string | undefined;
}

/** The mail to one person. What is filled in is text: in the HTML part it is escaped, and in the subject it stays on one line. */
export function render(template: Template, { email, name, company }: Addressee, { unsubscribeUrl, postalAddress }: Footer): Rendered {
  const values: Readonly<Record<string, string | undefined>> = {
    ...template.variables,
    ...{ email, name: name ?? undefined, first_name: name?.split(' ')[0], company: company ?? undefined, unsubscribe_url: unsubscribeUrl },
  };
  const fill = (text: string, written: (value: string) => string) =>
    text.replaceAll(PLACE, (_place, variable: string, otherwise?: string) => written(values[variable] || (otherwise?.trim() ?? '')));
  const text = fill(template.text, (value) => value);
  const html = template.html === null ? htmlOf(text) : fill(template.html, escapeHtml);
  // A mail without a way out is none that may be sent.
  const isSaid = (part: string) => part.includes(unsubscribeUrl) || part.includes(escapeHtml(unsubscribeUrl));
  return {
    subject: fill(template.subject, (value) => value)
      .replaceAll(/\s+/g, ' ')
      .trim(),
    text: withTextFooter(text, isSaid(text) ? undefined : unsubscribeUrl, postalAddress),
    html: withFooter(html, isSaid(html) ? undefined : unsubscribeUrl, postalAddress),
  };
}

const htmlOf = (text: string): string => {
  const paragraphs = text.trim().split(/\n{2,}/);
  const linked = (line: string) => escapeHtml(line).replaceAll(/https?:\/\/[^\s<]+[^\s<.,:;!?)&]/g, (url) => `<a href="${url}">${url}</a>`);
  const body = paragraphs.map((paragraph) => `<p>${paragraph.split('\n').map(linked).join('<br>\n')}</p>`).join('\n');
  return `<!doctype html>\n<html><head><meta charset="utf-8"></head><body>\n${body}\n</body></html>\n`;
};

function withTextFooter(text: string, unsubscribeUrl: string | undefined, postalAddress: string | undefined): string {
  const lines = [
    ...(unsubscribeUrl === undefined ? [] : [`Unsubscribe: ${unsubscribeUrl}`]),
    ...(postalAddress === undefined ? [] : [postalAddress]),
  ];
  return lines.length === 0 ? text : `${text.trimEnd()}\n\n--\n${lines.join('\n')}\n`;
}

function withFooter(html: string, unsubscribeUrl: string | undefined, postalAddress: string | undefined): string {
  const parts = [
    ...(unsubscribeUrl === undefined ? [] : [`<a href="${escapeHtml(unsubscribeUrl)}">Unsubscribe</a>`]),
    ...(postalAddress === undefined ? [] : [escapeHtml(postalAddress)]),
  ];
  if (parts.length === 0) return html;
  const footer = `<p style="font-size:13px;color:#59636e">${parts.join('<br>')}</p>\n`;
  const end = html.search(/<\/body\s*>/i);
  return end < 0 ? `${html}\n${footer}` : `${html.slice(0, end)}${footer}${html.slice(end)}`;
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const escapeHtml = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
