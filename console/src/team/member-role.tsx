import type { Member } from '@tallygate/sdk';
import { useState } from 'react';
import { tallygate } from '../client.ts';
import { useMay } from '../session.ts';
import { Dialog, Form, Select } from '../ui/dialog.tsx';
import { useReload } from '../ui/paged.tsx';

type Role = Member['account_role'];

export const ROLES = [
  ['developer', 'Developer: keys and requests'],
  ['viewer', 'Viewer: reads'],
  ['billing', 'Billing: plan and invoices'],
  ['admin', 'Admin: everything but the owner’s'],
] as const satisfies readonly (readonly [Role, string])[];
const OWNER = ['owner', 'Owner: everything, closing the account included'] as const;

const EFFECTS: Readonly<Record<Role, string>> = {
  owner: 'They may do everything, close the account and remove owners.',
  admin: 'They see all that the account has, manage keys, limits and members, and pay.',
  billing: 'They see and pay what the account owes. Their API keys stop working for models.',
  developer: 'They see their own requests and keys, and those of projects that they are members of.',
  viewer: 'They only read. Their API keys stop working for models.',
};

/** What a member may do from now on. */
export function MemberRole({ member, onClose }: { member: Member; onClose: () => void }) {
  const reload = useReload('members');
  const isOwner = useMay('own account');
  const [role, setRole] = useState<Role>(member.account_role);
  const save = async (): Promise<void> => {
    await tallygate.members.update(member.user_id, { account_role: role });
    await reload();
    onClose();
  };
  const offered = isOwner ? [OWNER, ...ROLES] : ROLES;
  return (
    <Dialog title={`The role of ${member.email}`} onClose={onClose}>
      <Form action="Save" onSubmit={save} onCancel={onClose}>
        <div onChange={({ target }) => target instanceof HTMLSelectElement && setRole(target.value as Role)}>
          <Select name="role" label="Role" options={offered} defaultValue={role} />
        </div>
        <p className="hint" role="status">
          {EFFECTS[role]}
        </p>
      </Form>
    </Dialog>
  );
}
