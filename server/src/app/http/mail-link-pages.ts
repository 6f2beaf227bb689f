import { type ScriptedPage, scriptedPage } from './scripted-page.ts';

/** The token never leaves for anywhere but our own API: it is taken out of the address bar first. */
const FORM_SCRIPT = `const form=document.forms[0],said=document.querySelector('[role=status]'),token=new URLSearchParams(location.search).get('token')||'';
history.replaceState(null,'',location.pathname);
form.addEventListener('submit',async(event)=>{event.preventDefault();const field=form.elements.new_password;
const answer=await fetch(form.dataset.path,{method:'POST',headers:{'content-type':'application/json'},body:JSON.stringify(field?{token,new_password:field.value}:{token})}).catch(()=>null);
if(answer&&answer.ok){form.hidden=true;said.textContent=form.dataset.done}else said.textContent=answer?(await answer.json()).detail:'The service cannot be reached: try again.'});`;

/** The code as well: a person who reads the address bar over a shoulder gets nothing of it. The address may be mistyped, so it is shown. */
const INVITE_SCRIPT = `const form=document.forms[0],said=document.querySelector('[role=status]'),query=new URLSearchParams(location.search);
form.elements.email.value=query.get('email')||'';form.elements.code.value=query.get('code')||'';history.replaceState(null,'',location.pathname);
form.addEventListener('submit',async(event)=>{event.preventDefault();
const answer=await fetch(form.dataset.path,{method:'POST',headers:{'content-type':'application/json'},body:JSON.stringify({code:form.elements.code.value,email:form.elements.email.value})}).catch(()=>null);
if(answer&&answer.ok){form.hidden=true;said.textContent=form.dataset.done}else said.textContent=answer?(await answer.json()).detail:'The service cannot be reached: try again.'});`;

/** Puts this gateway's address and the key's id into the commands. Nothing else of the address bar is shown. */
const KEYS_SCRIPT = `const id=new URLSearchParams(location.search).get('key_id')||'';
for(const place of document.querySelectorAll('[data-gateway]'))place.textContent=location.origin;
if(/^[0-9a-f-]{36}$/.test(id))for(const place of document.querySelectorAll('[data-key]'))place.textContent=id;`;

const GATEWAY = '<span data-gateway>https://GATEWAY</span>';
const KEY = '<span data-key>KEY_ID</span>';
const KEYS_CONTENT = `<p>This gateway is used from the command line and over its API. Both show what a key has spent, and change its cap.</p>
<h2>At the command line</h2>
<pre>npx tallygate login --base-url ${GATEWAY}
npx tallygate budgets show ${KEY}
npx tallygate budgets alerts ${KEY}
npx tallygate budgets set ${KEY} 25</pre>
<h2>Over the API</h2>
<p>With a session token, or an API key that has the scope <code>account:read</code>; changing takes a session or <code>keys:write</code>.</p>
<pre>curl ${GATEWAY}/v1/keys/${KEY}/budget \\
  -H "Authorization: Bearer $TOKEN"

curl -X PATCH ${GATEWAY}/v1/keys/${KEY}/budget \\
  -H "Authorization: Bearer $TOKEN" \\
  -H "Content-Type: application/json" \\
  -d '{"monthly_cap_usd":"25"}'</pre>
<p>A changed cap is in force at once. <code>null</code> in its place clears it, and the month starts again at 00:00 UTC on the first.</p>`;

/**
 * Where links in mails lead when there is no web front end, by the first step of their paths. The token is spent by the button and not by the
 * visit: mail scanners open every link before its reader does.
 */
export const MAIL_LINK_PAGES: Readonly<Record<string, ScriptedPage>> = {
  keys: scriptedPage({ title: 'The budget of an API key', content: KEYS_CONTENT, script: KEYS_SCRIPT }),
  'verify-email': formPage({
    title: 'Confirm your e-mail address',
    path: '/v1/users/verify-email',
    field:
      '<p>Confirm it only if you made the account yourself. If somebody else did, they know its password: ask for a new one instead, and the account is yours alone.</p>',
    button: 'Confirm this address',
    done: 'Your address is confirmed. You can close this page.',
  }),
  invite: formPage({
    title: 'Activate your invitation',
    path: '/v1/beta/invite/activate',
    field:
      '<label for="email">E-mail address</label><input id="email" name="email" type="email" autocomplete="email" required><label for="code">Code</label><input id="code" name="code" autocomplete="off" spellcheck="false" required>',
    button: 'Activate',
    done: 'Your invitation is activated. If you have no account yet, a mail with a link to it is on its way.',
    script: INVITE_SCRIPT,
  }),
  'cancel-registration': formPage({
    title: 'Give up your place',
    path: '/v1/events/cancel-registration',
    field: '<p>Your registration ends, and the place goes to the person who has waited longest.</p>',
    button: 'End my registration',
    done: 'Your registration has ended. You can close this page.',
  }),
  'accept-invitation': formPage({
    title: 'Accept the invitation',
    path: '/v1/members/accept',
    field:
      '<label for="new_password">Your password, 10 characters or more</label><input id="new_password" name="new_password" type="password" autocomplete="new-password" minlength="10" maxlength="256" required>',
    button: 'Join the account',
    done: 'You are a member now. Log in with your address and the password.',
  }),
  'reset-password': formPage({
    title: 'Set a new password',
    path: '/v1/users/password-reset/confirm',
    field:
      '<label for="new_password">New password, 10 characters or more</label><input id="new_password" name="new_password" type="password" autocomplete="new-password" minlength="10" maxlength="256" required>',
    button: 'Set the password',
    done: 'Your password is set, and all sessions have ended. Log in with the new one.',
  }),
};

interface Form {
  readonly title: string;
  /** Where it is sent. */
  readonly path: string;
  readonly field: string;
  readonly button: string;
  /** The message after success. */
  readonly done: string;
  /** Left out: the one that sends a token. */
  readonly script?: string;
}

function formPage({ title, path, field, button, done, script = FORM_SCRIPT }: Form): ScriptedPage {
  const content = `<form data-path="${path}" data-done="${done}">${field}<button>${button}</button></form><p role="status"></p>`;
  return scriptedPage({ title, content, script });
}
