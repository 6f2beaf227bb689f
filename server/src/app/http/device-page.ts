import { scriptedPage } from './scripted-page.ts';

const CONTENT = `<form id="enter"><p>A program on one of your computers shows a code. Compare it, or type it in, and sign in.</p>
<label for="user_code">Code</label><input id="user_code" name="user_code" class="code" autocomplete="off" autocapitalize="characters" spellcheck="false" maxlength="20" required>
<label for="email">E-mail address</label><input id="email" name="email" type="email" autocomplete="username" required>
<label for="password">Password</label><input id="password" name="password" type="password" autocomplete="current-password" maxlength="256" required>
<button>Continue</button></form>
<form id="second" hidden><label for="code">Code from the authenticator app, or a recovery code</label><input id="code" name="code" autocomplete="one-time-code" maxlength="40" required><button>Continue</button></form>
<section id="question" hidden><p class="code" data-show="user_code"></p><dl><dt>Who asks</dt><dd data-show="client_name"></dd><dt>From</dt><dd data-show="ip_address"></dd><dt>As</dt><dd data-show="email"></dd>
<dt>What it may do until you end its session</dt><dd data-show="scopes"></dd></dl>
<p><strong>Approve only what you have started yourself, just now.</strong> Nobody has a reason to send you such a code.</p>
<div class="buttons"><button id="approve">Approve</button><button id="deny" class="quiet">Turn away</button></div></section>
<p role="status"></p>`;

/**
 * The password goes to the login alone, the session stays in this page and ends with it, and no step is taken without a button: a link
 * with the code filled in asks like any other (RFC 8628, 3.3.1 and 5.4).
 */
const SCRIPT = `const $=(id)=>document.getElementById(id),said=document.querySelector('[role=status]'),enter=$('enter'),second=$('second'),question=$('question');
enter.elements.user_code.value=new URLSearchParams(location.search).get('user_code')||'';history.replaceState(null,'',location.pathname);
let session='',challenge='',busy=false;
const call=async(path,body)=>{const answer=await fetch(path,{method:'POST',headers:{...(body&&{'content-type':'application/json'}),...(session&&{authorization:'Bearer '+session})},...(body&&{body:JSON.stringify(body)})}).catch(()=>null);
if(!answer)throw new Error('The service cannot be reached: try again.');const text=await answer.text(),json=text?JSON.parse(text):{};if(!answer.ok)throw new Error(json.detail);return json};
const once=(work)=>async(event)=>{event.preventDefault();if(busy)return;busy=true;said.textContent='';try{await work()}catch(error){said.textContent=error.message}finally{busy=false}};
const show=(part)=>{for(const each of[enter,second,question])each.hidden=each!==part;const field=part&&part.querySelector('input,button');if(field)field.focus()};
const code=()=>enter.elements.user_code.value;
const ask=async()=>{const found=await call('/v1/users/me/device-logins/find',{user_code:code()}).catch((error)=>{show(enter);throw error});
const shown={...found,user_code:code().toUpperCase(),ip_address:found.ip_address||'an unknown address',email:enter.elements.email.value,scopes:'Everything that you may do: '+found.scopes.join(', ')+'.'};
for(const place of document.querySelectorAll('[data-show]'))place.textContent=shown[place.dataset.show];show(question)};
const signedIn=async(answer)=>{if(answer.mfa_required){challenge=answer.challenge_token;show(second);return}session=answer.session.token;enter.elements.password.value='';await ask()};
const leave=async(sentence)=>{await call('/v1/users/logout').catch(()=>{});session='';show(null);said.textContent=sentence};
addEventListener('pagehide',()=>{if(session)fetch('/v1/users/logout',{method:'POST',keepalive:true,headers:{authorization:'Bearer '+session}}).catch(()=>{});session=''});
enter.addEventListener('submit',once(async()=>{if(session)await call('/v1/users/logout').catch(()=>{});session='';await signedIn(await call('/v1/users/login',{email:enter.elements.email.value,password:enter.elements.password.value}))}));
second.addEventListener('submit',once(async()=>signedIn(await call('/v1/users/login/mfa',{challenge_token:challenge,code:second.elements.code.value}))));
$('approve').addEventListener('click',once(async()=>{await call('/v1/users/me/device-logins/approve',{user_code:code()});await leave('Approved. You can close this page and go back to the program.')}));
$('deny').addEventListener('click',once(async()=>{await call('/v1/users/me/device-logins/deny',{user_code:code()});await leave('Turned away. The program has been told.')}));`;

/** The page to approve the login of a program: `verification_uri` of a device login leads here. */
export const DEVICE_PAGE = scriptedPage({ title: 'Sign in a program', content: CONTENT, script: SCRIPT });
