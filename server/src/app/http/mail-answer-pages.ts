import type { Unsubscribing } from '../../community/emails/index.ts';
import type { Consents } from '../../community/marketing/index.ts';
import type { Log } from '../../kernel/log.ts';
import { pagePolicy } from '../../kernel/page-policy.ts';
import type { Exchange } from './exchange.ts';
import type { ServedRoute } from './router.ts';
import { queryParamsOf } from './target.ts';

const STYLE = `body{font:16px/1.6 system-ui,sans-serif;max-width:26rem;margin:12vh auto;padding:0 1.5rem;color:#1c2024;background:#fff}
button{font:inherit;font-weight:600;margin-top:1.25rem;padding:.65rem 1.2rem;border:0;border-radius:8px;background:#1f6feb;color:#fff}
@media(prefers-color-scheme:dark){body{color:#edeef0;background:#111113}}`;

const HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': pagePolicy({ style: STYLE, formAction: ["'self'"] }),
  'x-robots-tag': 'noindex',
};

interface Question {
  readonly title: string;
  readonly text: string;
  readonly button: string;
}

/** What a link in a mail asks for, by one button. */
export interface MailAnswer {
  readonly path: string;
  /** What the holder of this token is asked; undefined for one that no mail carries. */
  readonly questionFor: (token: string) => Promise<Question | undefined>;
  /** Once or often comes to the same. @returns false for a token that no mail carries */
  readonly act: (token: string) => Promise<boolean>;
  readonly done: { readonly title: string; readonly text: string };
  /** What else there is to say of a link that is not valid. */
  readonly ifUnknown?: string;
}

const UNSUBSCRIBE: Question = {
  ...{ title: 'Unsubscribe?', text: 'No more mails of this kind will come to your address.', button: 'Unsubscribe' },
};
const CONSENT: Question = {
  title: 'News by mail?',
  text: 'News will come to your address. Each of these mails says how to get no more of them.',
  button: 'Yes, send me news',
};
const CONSENT_ON_RECORD: Question = {
  title: 'Your consent is on record',
  text: 'News by mail comes to your address already. Say so yourself, and your own word is what counts. Each of these mails says how to get no more of them.',
  button: 'Yes, I want news',
};

/** No more mails: the link at the end of each. */
export const unsubscribeAnswer = ({ recipientOf, unsubscribe }: Unsubscribing): MailAnswer => ({
  path: '/unsubscribe',
  questionFor: async (token) => ((await recipientOf(token)) === undefined ? undefined : UNSUBSCRIBE),
  act: unsubscribe,
  done: { title: 'You are unsubscribed', text: 'No more mails of this kind will come. You can close this page.' },
});

/** News by mail: the reader of the address confirms it. */
export const consentAnswer = ({ standOf, confirm }: Consents): MailAnswer => ({
  path: '/marketing-consent',
  questionFor: async (token) => {
    const stand = await standOf(token);
    return stand && (stand === 'vouched_for' ? CONSENT_ON_RECORD : CONSENT);
  },
  act: confirm,
  done: { title: 'Thank you', text: 'News will come to your address. You can close this page.' },
  ifUnknown: 'A link of this kind holds for seven days, and not once its address has unsubscribed.',
});

/**
 * Where links of mails lead that are answered with one click. GET asks, since mail scanners follow links; POST does it, from the page's
 * button or from the mail program itself (RFC 8058: one click, no login, no question).
 */
export const mailAnswerRoutes = (answers: readonly MailAnswer[], log: Log): ServedRoute[] =>
  answers.flatMap((answer) =>
    (['GET', 'POST'] as const).map(
      (method): ServedRoute => ({ method, path: answer.path, kind: 'site', answer: (exchange) => serve(answer, exchange, log) }),
    ),
  );

async function serve(answer: MailAnswer, { req, res }: Exchange, log: Log): Promise<void> {
  // What a form or a mail program says in the body is known from the method.
  req.resume();
  const token = queryParamsOf(req.url ?? '').get('token') ?? '';
  const send = (status: number, html: string) => res.writeHead(status, HEADERS).end(req.method === 'HEAD' ? undefined : html);
  try {
    const isPost = req.method === 'POST';
    const question = isPost ? undefined : await answer.questionFor(token);
    if (question) send(200, askPage(question));
    else if (isPost && (await answer.act(token))) send(200, donePage(answer));
    else send(404, unknownPage(answer));
  } catch (failure) {
    log.error({ err: failure, path: answer.path }, 'the answer to a mail could not be taken');
    send(503, page('Please try again', '<p>That did not work just now. Open the link again in a moment.</p>'));
  }
}

const page = (title: string, content: string): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title><style>${STYLE}</style></head>
<body><main><h1>${title}</h1>${content}</main></body></html>
`;

/** The form goes to its own address, token included. */
const askPage = ({ title, text, button }: Question): string =>
  page(title, `<p>${text}</p><form method="post"><button>${button}</button></form>`);
const donePage = ({ done: { title, text } }: MailAnswer): string => page(title, `<p>${text}</p>`);
const unknownPage = ({ ifUnknown }: MailAnswer): string =>
  page('This link is not valid', `<p>Open the whole link as it is in the mail.${ifUnknown === undefined ? '' : ` ${ifUnknown}`}</p>`);
