import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { stranger, tallygate } from '../client.ts';
import { useMay } from '../session.ts';
import { Form } from '../ui/dialog.tsx';
import { Panel } from '../ui/parts.tsx';

/** How members sign in beside the directory: for owners, where a directory is configured. */
export function MembersLogin() {
  const isOwner = useMay('own account');
  const [said, setSaid] = useState('');
  const { data } = useQuery({ queryKey: ['login-methods'], queryFn: () => stranger.sso.methods() });
  if (!isOwner || !data?.directory) return null;
  const save = async (fields: FormData): Promise<void> => {
    const { password } = await tallygate.sso.setPasswordLogin({ password: fields.get('password') !== null });
    setSaid(password ? 'Members may use a password as well.' : 'Members sign in with the directory alone; owners keep their passwords.');
  };
  return (
    <Panel title="Sign-in of members">
      <Form action="Save" onSubmit={save}>
        <p>Members sign in with {data.directory.name}.</p>
        <label className="check">
          <input type="checkbox" name="password" defaultChecked={data.password} /> Also with e-mail address and password
        </label>
        <p role="status">{said}</p>
      </Form>
    </Panel>
  );
}
