import { escapeHtml } from '../kernel/html.ts';

/** The content of a mail, before it is rendered as HTML and as text. All of it is plain text: nothing in it is interpreted as markup. */
export interface Letter {
  readonly subject: string;
  /** The line under the subject in a list of mails. */
  readonly preview: string;
  readonly paragraphs: readonly string[];
  /** Label and value, a row each. */
  readonly facts?: readonly (readonly [label: string, value: string])[];
  /** Answers to the mail go to this address. Left out: to the sender. */
  readonly replyTo?: string;
  readonly action?: { readonly label: string; readonly url: string };
  /** The footer, in small print: what to do if this mail was not expected. */
  readonly footnote: string;
  /** For marketing mail: the legally required footer. */
  readonly unsubscribeFooter?: UnsubscribeFooter;
}

/** The unsubscribe link and the sender's postal address. */
export interface UnsubscribeFooter {
  readonly unsubscribeUrl: string;
  /** On one line. */
  readonly postalAddress?: string | undefined;
}

/** The two parts of a mail's body. */
export interface Dressed {
  readonly text: string;
  readonly html: string;
}

export function dress(letter: Letter): Dressed {
  return { text: toText(letter), html: toHtml(letter) };
}

function toText({ paragraphs, facts = [], action, footnote, unsubscribeFooter }: Letter): string {
  const width = Math.max(0, ...facts.map(([label]) => label.length));
  return [
    ...paragraphs,
    ...(facts.length > 0 ? [facts.map(([label, value]) => `  ${label.padEnd(width)}  ${value}`).join('\n')] : []),
    ...(action ? [`${action.label}:\n${action.url}`] : []),
    [
      '--',
      footnote,
      ...(unsubscribeFooter ? [`Unsubscribe: ${unsubscribeFooter.unsubscribeUrl}`] : []),
      'Tallygate',
      ...postalAddressOf(unsubscribeFooter),
    ].join('\n'),
    '',
  ].join('\n\n');
}

const FONT = "font-family:-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";
const HIDDEN = 'display:none;max-height:0;overflow:hidden;mso-hide:all';

/** Tables and inline styles, since mail programs render those alike; no image and no other resource is loaded. */
function toHtml({ subject, preview, paragraphs, facts = [], action, footnote, unsubscribeFooter }: Letter): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(subject)}</title>
<style>
@media (prefers-color-scheme:dark){
.page{background:#0d1117!important}.card{background:#161b22!important;border-color:#30363d!important}
.ink{color:#e6edf3!important}.faint{color:#9198a1!important}.rule{border-color:#30363d!important}
}
</style>
</head>
<body class="page" style="margin:0;padding:0;background:#f4f5f7">
<div style="${HIDDEN}">${escapeHtml(preview)}</div>
<table role="presentation" width="100%" cellpadding="0" cellspacing="0"><tr><td align="center" style="padding:32px 16px">
<table role="presentation" class="card" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;background:#ffffff;border:1px solid #dfe2e7;border-radius:12px">
<tr><td class="ink" style="padding:28px 32px 0;${FONT};font-size:14px;font-weight:600;letter-spacing:.04em;color:#1f2328">Tallygate</td></tr>
<tr><td class="ink" style="padding:12px 32px 0;${FONT};font-size:22px;line-height:1.3;font-weight:600;color:#1f2328">${escapeHtml(subject)}</td></tr>
${paragraphs.map(paragraph).join('\n')}
${facts.length > 0 ? factTable(facts) : ''}
${action ? button(action) : ''}
<tr><td style="padding:28px 32px"><div class="faint rule" style="padding-top:16px;border-top:1px solid #dfe2e7;${FONT};font-size:13px;line-height:1.5;color:#59636e">${[escapeHtml(footnote), ...wayOutLines(unsubscribeFooter)].join('<br>')}</div></td></tr>
</table>
</td></tr></table>
</body>
</html>
`;
}

const postalAddressOf = (unsubscribeFooter: UnsubscribeFooter | undefined): string[] =>
  unsubscribeFooter?.postalAddress === undefined ? [] : [unsubscribeFooter.postalAddress];

const wayOutLines = (unsubscribeFooter: UnsubscribeFooter | undefined): string[] =>
  unsubscribeFooter === undefined
    ? []
    : [
        `<a href="${escapeHtml(unsubscribeFooter.unsubscribeUrl)}" class="faint" style="color:#59636e">Unsubscribe</a>`,
        ...postalAddressOf(unsubscribeFooter).map(escapeHtml),
      ];

const paragraph = (text: string): string =>
  `<tr><td class="ink" style="padding:16px 32px 0;${FONT};font-size:15px;line-height:1.6;color:#1f2328">${escapeHtml(text)}</td></tr>`;

const factTable = (facts: NonNullable<Letter['facts']>): string =>
  `<tr><td style="padding:16px 32px 0"><table role="presentation" width="100%" cellpadding="0" cellspacing="0">${facts.map(fact).join('')}</table></td></tr>`;

const fact = ([label, value]: readonly [string, string]): string =>
  `<tr><td class="faint rule" style="padding:8px 0;border-bottom:1px solid #eceef1;${FONT};font-size:14px;color:#59636e">${escapeHtml(label)}</td><td align="right" class="ink rule" style="padding:8px 0;border-bottom:1px solid #eceef1;${FONT};font-size:14px;color:#1f2328">${escapeHtml(value)}</td></tr>`;

const button = ({ label, url }: NonNullable<Letter['action']>): string =>
  `<tr><td style="padding:24px 32px 0"><a href="${escapeHtml(url)}" style="display:inline-block;padding:12px 22px;border-radius:8px;background:#1f6feb;color:#ffffff;text-decoration:none;${FONT};font-size:15px;font-weight:600">${escapeHtml(label)}</a></td></tr>
<tr><td class="faint" style="padding:12px 32px 0;${FONT};font-size:13px;line-height:1.5;word-break:break-all;color:#59636e">${escapeHtml(url)}</td></tr>`;
