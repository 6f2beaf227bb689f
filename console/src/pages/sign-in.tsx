import type { UserResponse } from '@tallygate/sdk';
import { useRouter, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { keepSession, stranger } from '../client.ts';
import { queryClient } from '../query-client.ts';
import { Field, Form } from '../ui/dialog.tsx';

/** Keeps the session in the cookie, forgets what somebody else had looked at, and goes where the person wanted to. */
function useSignedIn(): (user: UserResponse) => Promise<void> {
  const { to = '/' } = useSearch({ from: '/sign-in' });
  const { history } = useRouter();
  return async ({ session }) => {
    if (!session) throw new Error('The service answered without a session: try again.');
    await keepSession(session.token);
    queryClient.clear();
    history.push(`/console${to === '/' ? '' : to}`);
  };
}

function Password({ onChallenge }: { onChallenge: (challenge: string) => void }) {
  const signedIn = useSignedIn();
  const submit = async (fields: FormData): Promise<void> => {
    const answer = await stranger.identity.login({ email: String(fields.get('email')), password: String(fields.get('password')) });
    if ('mfa_required' in answer) onChallenge(answer.challenge_token);
    else await signedIn(answer);
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

function SecondFactor({ challenge }: { challenge: string }) {
  const signedIn = useSignedIn();
  const submit = async (fields: FormData): Promise<void> => {
    await signedIn(await stranger.identity.loginMfa({ challenge_token: challenge, code: String(fields.get('code')).trim() }));
  };
  return (
    <Form action="Continue" onSubmit={submit}>
      <Field name="code" label="Code" hint="From your authenticator app, or a recovery code." autoComplete="one-time-code" isRequired />
    </Form>
  );
}

export function SignIn() {
  const [challenge, setChallenge] = useState<string>();
  return (
    <main className="sign-in">
      <h1>Sign in to Tallygate</h1>
      {challenge === undefined ? <Password onChallenge={setChallenge} /> : <SecondFactor challenge={challenge} />}
    </main>
  );
}
