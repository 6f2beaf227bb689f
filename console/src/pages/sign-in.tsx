import type { LoginMethods, UserResponse } from '@tallygate/sdk';
import { useQuery } from '@tanstack/react-query';
import { useRouter, useSearch } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { keepSession, stranger } from '../client.ts';
import { beginAtDirectory, endAtDirectory } from '../directory-sign-in.ts';
import { messageOf, queryClient } from '../query-client.ts';
import { Field, Form } from '../ui/dialog.tsx';
import { Loading } from '../ui/parts.tsx';

/** Keeps the session in the cookie, forgets what somebody else had looked at, and goes where the person wanted to. */
function useSignedIn(): (user: UserResponse, to: string) => Promise<void> {
  const { history } = useRouter();
  return async ({ session }, to) => {
    if (!session) throw new Error('The service answered without a session: try again.');
    await keepSession(session.token);
    queryClient.clear();
    history.push(`/console${to === '/' ? '' : to}`);
  };
}

function Password({ to, onChallenge }: { to: string; onChallenge: (challenge: string) => void }) {
  const signedIn = useSignedIn();
  const submit = async (fields: FormData): Promise<void> => {
    const answer = await stranger.identity.login({ email: String(fields.get('email')), password: String(fields.get('password')) });
    if ('mfa_required' in answer) onChallenge(answer.challenge_token);
    else await signedIn(answer, to);
  };
  return (
    <Form action="Sign in" onSubmit={submit}>
      <Field name="email" label="E-mail address" type="email" autoComplete="username" isRequired />
      <Field name="password" label="Password" type="password" autoComplete="current-password" isRequired />
      <p className="hint">
        The first administrator’s password is in <code>bootstrap.json</code> of the gateway’s data directory: <code>.tallygate/</code>.
      </p>
    </Form>
  );
}

function SecondFactor({ to, challenge }: { to: string; challenge: string }) {
  const signedIn = useSignedIn();
  const submit = async (fields: FormData): Promise<void> => {
    await signedIn(await stranger.identity.loginMfa({ challenge_token: challenge, code: String(fields.get('code')).trim() }), to);
  };
  return (
    <Form action="Continue" onSubmit={submit}>
      <Field name="code" label="Code" hint="From your authenticator app, or a recovery code." autoComplete="one-time-code" isRequired />
    </Form>
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
  const { to = '/' } = useSearch({ from: '/sign-in' });
  const [challenge, setChallenge] = useState<string>();
  const { data: methods } = useQuery({ queryKey: ['login-methods'], queryFn: () => stranger.sso.methods() });
  return (
    <main className="sign-in">
      <h1>Sign in to Tallygate</h1>
      <FromDirectory />
      {methods?.directory && challenge === undefined && <Directory directory={methods.directory} to={to} />}
      {challenge === undefined ? <Password to={to} onChallenge={setChallenge} /> : <SecondFactor to={to} challenge={challenge} />}
    </main>
  );
}
