import { hash } from 'node:crypto';

/** A page that a link in a mail leads to, with the headers that belong to it. */
export interface MailLinkPage {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

const LINK = /^\/(verify-email|reset-password)(?:\?|$)/;

const STYLE = `body{font:16px/1.6 system-ui,sans-serif;max-width:26rem;margin:12vh auto;padding:0 1.5rem;color:#1c2024;background:#fff}
label{display:block;font-weight:600;margin:1rem 0 .25rem}input{font:inherit;width:100%;box-sizing:border-box;padding:.6rem .7rem;border:1px solid #8b8d98;border-radius:8px;background:inherit;color:inherit}
button{font:inherit;font-weight:600;margin-top:1.25rem;padding:.65rem 1.2rem;border:0;border-radius:8px;background:#1f6feb;color:#fff}[role=status]{margin-top:1rem}
@media(prefers-color-scheme:dark){body{color:#edeef0;background:#111113}}`;

/** The token never leaves for anywhere but our own API: it is taken out of the address bar first. */
const SCRIPT = `const form=document.forms[0],said=document.querySelector('[role=status]'),token=new URLSearchParams(location.search).get('token')||'';
history.replaceState(null,'',location.pathname);
form.addEventListener('submit',async(event)=>{event.preventDefault();const field=form.elements.new_password;
const answer=await fetch(form.dataset.path,{method:'POST',headers:{'content-type':'application/json'},body:JSON.stringify(field?{token,new_password:field.value}:{token})}).catch(()=>null);
if(answer&&answer.ok){form.hidden=true;said.textContent=form.dataset.done}else said.textContent=answer?(await answer.json()).detail:'The service cannot be reached: try again.'});`;

const CSP = [
  "default-src 'none'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  ...[`script-src 'sha256-${hash('sha256', SCRIPT, 'base64')}'`, `style-src 'sha256-${hash('sha256', STYLE, 'base64')}'`],
].join('; ');

const PAGES = {
  'verify-email': page({
    title: 'Confirm your e-mail address',
    path: '/v1/users/verify-email',
    field: '',
    button: 'Confirm this address',
    done: 'Your address is confirmed. You can close this page.',
  }),
  'reset-password': page({
    title: 'Set a new password',
    path: '/v1/users/password-reset/confirm',
    field:
      '<label for="new_password">New password, 10 characters or more</label><input id="new_password" name="new_password" type="password" autocomplete="new-password" minlength="10" maxlength="256" required>',
    button: 'Set the password',
    done: 'Your password is set, and all sessions have ended. Log in with the new one.',
  }),
};

/**
 * Where links in mails lead when there is no web front end. The token is spent by the button and not by the visit: mail scanners
 * open every link before its reader does.
 */
export function mailLinkPage(url: string): MailLinkPage | undefined {
  const name = LINK.exec(url)?.[1];
  if (name !== 'verify-email' && name !== 'reset-password') return undefined;
  const headers = { 'content-security-policy': CSP, 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' };
  return { body: PAGES[name], headers };
}

function page({ title, path, field, button, done }: Record<'title' | 'path' | 'field' | 'button' | 'done', string>): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title} · Tallygate</title><style>${STYLE}</style></head>
<body><main><h1>${title}</h1><form data-path="${path}" data-done="${done}">${field}<button>${button}</button></form><p role="status"></p></main><script>${SCRIPT}</script></body></html>
`;
}
