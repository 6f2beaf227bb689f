import type { LoginMethods, LoginMfaRequiredResponse, UserResponse } from '@tallygate/sdk';
import { useQuery } from '@tanstack/react-query';
import { useRouter, useSearch } from '@tanstack/react-router';
import { useCallback, useEffect, useRef, useState } from 'react';
import { keepSession, stranger } from '../client.ts';
import { beginAtDirectory, endAtDirectory } from '../directory-sign-in.ts';
import { hasPasskeys, isAtDomain, logInWith, offerForLogin } from '../passkeys.ts';
import { messageOf, queryClient } from '../query-client.ts';
import { Field, Form } from '../ui/dialog.tsx';
import { Loading } from '../ui/parts.tsx';

/** Keeps the session in the cookie, forgets what somebody else had looked at, and goes where the person wanted to. */
function useSignedIn(): (user: UserResponse, to: string) => Promise<void> {
  const { history } = useRouter();
  return useCallback(
    async ({ session }, to) => {
      if (!session) throw new Error('The service answered without a session: try again.');
      await keepSession(session.token);
      queryClient.clear();
      history.push(`/console${to === '/' ? '' : to}`);
    },
    [history],
  );
}

function Password({ to, onChallenge }: { to: string; onChallenge: (challenge: LoginMfaRequiredResponse) => void }) {
  const signedIn = useSignedIn();
  const submit = async (fields: FormData): Promise<void> => {
    const answer = await stranger.identity.login({ email: String(fields.get('email')), password: String(fields.get('password')) });
    if ('mfa_required' in answer) onChallenge(answer);
    else await signedIn(answer, to);
  };
  return (
    <Form action="Sign in" onSubmit={submit}>
      <Field name="email" label="E-mail address" type="email" autoComplete="username webauthn" isRequired />
      <Field name="password" label="Password" type="password" autoComplete="current-password" isRequired />
      <p className="hint">
        The first administrator’s address and password are in <code>bootstrap.json</code> of the gateway’s data directory,{' '}
        <code>.tallygate/</code> unless <code>DATA_DIR</code> names another.
      </p>
    </Form>
  );
}

function SecondFactor({ to, challenge, hasPasskey }: { to: string; challenge: string; hasPasskey: boolean }) {
  const signedIn = useSignedIn();
  const submit = async (fields: FormData): Promise<void> => {
    await signedIn(await stranger.identity.loginMfa({ challenge_token: challenge, code: String(fields.get('code')).trim() }), to);
  };
  return (
    <>
      {hasPasskey && <WithPasskey action="Use a passkey" to={to} challenge={challenge} />}
      <Form action="Continue" onSubmit={submit}>
        <Field name="code" label="Code" hint="From your authenticator app, or a recovery code." autoComplete="one-time-code" isRequired />
      </Form>
    </>
  );
}

/** A passkey as the whole login, also offered beside the e-mail address, or as its second factor. */
function WithPasskey({ action, to, challenge }: { action: string; to: string; challenge?: string }) {
  const signedIn = useSignedIn();
  const offer = useRef<AbortController>(undefined);
  const [failure, setFailure] = useState<string>();
  const failed = (error: unknown): void => setFailure(messageOf(error));
  useEffect(() => {
    if (challenge !== undefined) return;
    const offered = new AbortController();
    offer.current = offered;
    offerForLogin(offered.signal)
      .then((user) => user && signedIn(user, to))
      .catch((error: unknown) => setFailure(messageOf(error)));
    return () => offered.abort();
  }, [challenge, to, signedIn]);
  const ask = async (): Promise<void> => {
    setFailure(undefined);
    // Browsers take one question at a time.
    offer.current?.abort();
    await signedIn(await logInWith({ challengeToken: challenge, signal: new AbortController().signal }), to);
  };
  return (
    <>
      <button type="button" onClick={() => void ask().catch(failed)}>
        {action}
      </button>
      {failure !== undefined && (
        <p className="failure" role="alert">
          {failure}
        </p>
      )}
    </>
  );
}

function Directory({ directory, to }: { directory: NonNullable<LoginMethods['directory']>; to: string }) {
  return (
    <button type="button" className="primary" onClick={() => void beginAtDirectory(directory.login_url, to)}>
      Sign in with {directory.name}
    </button>
  );
}

/** What is said on the way back from the directory: that it goes on, or why it does not. */
function FromDirectory() {
  const returned = useSearch({ from: '/sign-in' });
  const signedIn = useSignedIn();
  const [failure, setFailure] = useState(returned.error_description);
  const isTaken = useRef(false);
  useEffect(() => {
    // A code works once, and effects may run twice.
    if (returned.code === undefined || isTaken.current) return;
    isTaken.current = true;
    endAtDirectory(returned)
      .then(({ user, to }) => signedIn(user, to))
      .catch((error: unknown) => setFailure(messageOf(error)));
  });
  if (failure !== undefined)
    return (
      <p className="failure" role="alert">
        {failure}
      </p>
    );
  return returned.code === undefined ? null : <Loading />;
}

export function SignIn() {
  const { to = '/', ended } = useSearch({ from: '/sign-in' });
  const [challenge, setChallenge] = useState<LoginMfaRequiredResponse>();
  const { data: methods } = useQuery({ queryKey: ['login-methods'], queryFn: () => stranger.sso.methods() });
  const hasDomain = hasPasskeys() && methods?.passkey != null && isAtDomain(methods.passkey.rp_id);
  return (
    <main className="sign-in">
      <h1>Sign in to Tallygate</h1>
      {ended && <p role="status">Your session has ended. Sign in again: you come back to the page that you were on.</p>}
      <FromDirectory />
      {methods?.directory && challenge === undefined && <Directory directory={methods.directory} to={to} />}
      {challenge === undefined ? (
        <>
          {hasDomain && <WithPasskey action="Sign in with a passkey" to={to} />}
          <Password to={to} onChallenge={setChallenge} />
        </>
      ) : (
        <SecondFactor to={to} challenge={challenge.challenge_token} hasPasskey={hasDomain && challenge.methods.includes('passkey')} />
      )}
    </main>
  );
}
