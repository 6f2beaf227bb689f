import type { InviteMemberRequest, Member, MemberInvitation, Project } from '@tallygate/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { tallygate } from '../client.ts';
import { day } from '../format.ts';
import { useMay, useMe } from '../session.ts';
import { MemberRole, ROLES } from '../team/member-role.tsx';
import { Confirm, Dialog, Field, Form, given, Select } from '../ui/dialog.tsx';
import { useReload } from '../ui/paged.tsx';
import { Badge, Empty, PageHead, Panel, Pending } from '../ui/parts.tsx';
import { type Column, Table } from '../ui/table.tsx';

const MOST = 200;

function Invite({ onClose }: { onClose: () => void }) {
  const reload = useReload('invitations');
  const invite = async (fields: FormData): Promise<void> => {
    const role = fields.get('role') as InviteMemberRequest['account_role'];
    await tallygate.members.invite({ email: given(fields, 'email') ?? '', account_role: role });
    await reload();
    onClose();
  };
  return (
    <Dialog title="Invite a member" onClose={onClose}>
      <Form action="Send the invitation" onSubmit={invite} onCancel={onClose}>
        <Field name="email" label="E-mail address" type="email" isRequired autoComplete="off" />
        <Select name="role" label="Role" options={ROLES} />
      </Form>
    </Dialog>
  );
}

const MEMBERS: readonly Column<Member>[] = [
  { name: 'E-mail address', cell: ({ email }) => email },
  { name: 'Role', cell: ({ account_role: role }) => <Badge state={role} /> },
  { name: 'Second factor', cell: ({ mfa_enabled: isOn }) => (isOn ? 'on' : 'off'), isSecondary: true },
  { name: 'Since', cell: ({ joined_at: at }) => day(at), isSecondary: true },
];

interface Actions {
  readonly me: string;
  /** Owners are changed by owners alone. */
  readonly isOwner: boolean;
  readonly onRole: (member: Member) => void;
  readonly onRemove: (member: Member) => void;
}

const changeOf = ({ me, isOwner, onRole, onRemove }: Actions): Column<Member> => ({
  name: 'Change',
  isAction: true,
  cell: (member) =>
    member.user_id === me || (member.account_role === 'owner' && !isOwner) ? null : (
      <span className="row-actions">
        <button type="button" onClick={() => onRole(member)}>
          Role
        </button>
        <button type="button" onClick={() => onRemove(member)}>
          Remove
        </button>
      </span>
    ),
});

function Members() {
  const { user_id: me } = useMe();
  const mayManage = useMay('manage account');
  const isOwner = useMay('own account');
  const reload = useReload('members');
  const [removed, setRemoved] = useState<Member>();
  const [changed, setChanged] = useState<Member>();
  const { data, error } = useQuery({ queryKey: ['members'], queryFn: async () => tallygate.members.list({ limit: MOST }) });
  if (!data) return <Pending error={error} />;
  const remove = async (): Promise<void> => {
    if (removed) await tallygate.members.remove(removed.user_id);
    await reload();
  };
  return (
    <>
      <Table
        label="Members"
        rows={data.data}
        columns={mayManage ? [...MEMBERS, changeOf({ me, isOwner, onRole: setChanged, onRemove: setRemoved })] : MEMBERS}
        idOf={({ user_id: id }) => id}
      />
      {changed && <MemberRole member={changed} onClose={() => setChanged(undefined)} />}
      {removed && (
        <Confirm title={`Remove ${removed.email}?`} action="Remove the member" onConfirm={remove} onClose={() => setRemoved(undefined)}>
          Their sessions end and the keys that are theirs are revoked, within a second.
        </Confirm>
      )}
    </>
  );
}

function Invitations() {
  const reload = useReload('invitations');
  const { data } = useQuery({ queryKey: ['invitations'], queryFn: async () => tallygate.members.invitations({ limit: MOST }) });
  if (!data || data.data.length === 0) return null;
  const withdraw = async (id: string): Promise<void> => {
    await tallygate.members.withdraw(id);
    await reload();
  };
  const columns: readonly Column<MemberInvitation>[] = [
    { name: 'E-mail address', cell: ({ email }) => email },
    { name: 'Role', cell: ({ account_role: role }) => <Badge state={role} /> },
    { name: 'Until', cell: ({ expires_at: at }) => day(at), isSecondary: true },
    {
      name: 'Withdraw',
      isAction: true,
      cell: ({ invitation_id: id }) => (
        <button type="button" onClick={() => void withdraw(id)}>
          Withdraw
        </button>
      ),
    },
  ];
  return (
    <Panel title="Invited">
      <Table label="Invitations" rows={data.data} columns={columns} idOf={({ invitation_id: id }) => id} />
    </Panel>
  );
}

const PROJECTS: readonly Column<Project>[] = [
  {
    name: 'Project',
    cell: ({ project_id: projectId, name }) => (
      <Link to="/projects/$projectId" params={{ projectId }}>
        {name}
      </Link>
    ),
  },
  { name: 'Id', cell: ({ project_id: id }) => <code className="mono">{id}</code>, isSecondary: true },
  { name: 'Created', cell: ({ created_at: at }) => day(at) },
  { name: 'State', cell: ({ archived_at: at }) => <Badge state={at === null ? 'active' : 'archived'} /> },
];

function NewProject({ onClose }: { onClose: () => void }) {
  const reload = useReload('projects');
  const create = async (fields: FormData): Promise<void> => {
    await tallygate.projects.create({ name: given(fields, 'name') ?? '' });
    await reload();
    onClose();
  };
  return (
    <Dialog title="Create a project" onClose={onClose}>
      <Form action="Create" onSubmit={create} onCancel={onClose}>
        <Field name="name" label="Name" isRequired autoComplete="off" />
      </Form>
    </Dialog>
  );
}

function ProjectsOf() {
  const { data, error } = useQuery({ queryKey: ['projects'], queryFn: async () => tallygate.projects.list({ limit: MOST }) });
  if (!data) return <Pending error={error} />;
  if (data.data.length === 0)
    return <Empty title="No projects yet">A project has its own keys and limits, and usage can be grouped by project.</Empty>;
  return <Table label="Projects" rows={data.data} columns={PROJECTS} idOf={({ project_id: id }) => id} />;
}

export function Team() {
  const [open, setOpen] = useState<'invite' | 'project'>();
  const close = (): void => setOpen(undefined);
  const mayManage = useMay('manage account');
  const button = (what: 'invite' | 'project', label: string) =>
    mayManage && (
      <button type="button" onClick={() => setOpen(what)}>
        {label}
      </button>
    );
  return (
    <>
      <PageHead title="Team">The people of this account, and its projects.</PageHead>
      <Panel title="Members" aside={button('invite', 'Invite')}>
        <Members />
      </Panel>
      {mayManage && <Invitations />}
      <Panel title="Projects" aside={button('project', 'Create')}>
        <ProjectsOf />
      </Panel>
      {open === 'invite' && <Invite onClose={close} />}
      {open === 'project' && <NewProject onClose={close} />}
    </>
  );
}
