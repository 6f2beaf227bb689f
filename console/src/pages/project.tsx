import type { Member, ProjectMember } from '@tallygate/sdk';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { tallygate } from '../client.ts';
import { day } from '../format.ts';
import { useMay, useMe } from '../session.ts';
import { ProjectActions } from '../team/project-actions.tsx';
import { Confirm, Dialog, Form, Select } from '../ui/dialog.tsx';
import { Badge, Empty, Failure, Mono, PageHead, PagePending, Panel } from '../ui/parts.tsx';
import { type Column, Table } from '../ui/table.tsx';

const A_PAGE = 200;

/** All pages: a company has more people than a page. */
async function all<Item>(pages: AsyncIterable<Item>): Promise<readonly Item[]> {
  const items: Item[] = [];
  for await (const item of pages) items.push(item);
  return items;
}

type Role = ProjectMember['project_role'];

const ROLES = [
  ['member', 'Member: sees the project and makes keys in it'],
  ['admin', 'Admin: also says who its members are'],
] as const;

function useReload(projectId: string): () => Promise<void> {
  const client = useQueryClient();
  return () => client.invalidateQueries({ queryKey: ['project-members', projectId] });
}

interface AddProps {
  readonly projectId: string;
  readonly members: readonly ProjectMember[];
  readonly onClose: () => void;
}

/** Owners and admins of the account are in every project without it. */
const canBeAdded = ({ account_role: role, user_id: id }: Member, members: readonly ProjectMember[]): boolean =>
  role !== 'owner' && role !== 'admin' && !members.some((member) => member.user_id === id);

function EverybodyIsIn({ onClose }: { onClose: () => void }) {
  return (
    <>
      <Empty title="Everybody is in it">Owners and admins of the account are in every project.</Empty>
      <div className="form-actions">
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </>
  );
}

function AddMember({ projectId, members, onClose }: AddProps) {
  const reload = useReload(projectId);
  const { data, error } = useQuery({ queryKey: ['members', 'all'], queryFn: () => all(tallygate.members.list({ limit: A_PAGE })) });
  const others = data?.filter((member) => canBeAdded(member, members));
  const add = async (fields: FormData): Promise<void> => {
    const role = fields.get('role') as Role;
    await tallygate.projects.putMember(projectId, String(fields.get('person')), { project_role: role });
    await reload();
    onClose();
  };
  return (
    <Dialog title="Add a member to the project" onClose={onClose}>
      {error && <Failure error={error} />}
      {others?.length === 0 && <EverybodyIsIn onClose={onClose} />}
      {others && others.length > 0 && (
        <Form action="Add the member" onSubmit={add} onCancel={onClose}>
          <Select name="person" label="Person" options={others.map(({ user_id: id, email }) => [id, email] as const)} />
          <Select name="role" label="Role in the project" options={ROLES} />
        </Form>
      )}
    </Dialog>
  );
}

const MEMBERS: readonly Column<ProjectMember>[] = [
  { name: 'E-mail address', cell: ({ email }) => email },
  { name: 'Role', cell: ({ project_role: role }) => <Badge state={role} /> },
  { name: 'Added by', cell: ({ by_directory: isByDirectory }) => (isByDirectory ? 'a group of the directory' : 'a person') },
  { name: 'Since', cell: ({ added_at: at }) => day(at), isSecondary: true },
];

interface ChangesProps {
  readonly member: ProjectMember;
  readonly mayManage: boolean;
  readonly onRole: (role: Role) => void;
  readonly onRemove: () => void;
}

/** What the directory has decided is changed there. */
function Changes({ member, mayManage, onRole, onRemove }: ChangesProps) {
  const { user_id: me } = useMe();
  const isMe = member.user_id === me;
  if (member.by_directory || !(mayManage || isMe)) return null;
  const next: Role = member.project_role === 'admin' ? 'member' : 'admin';
  return (
    <div className="actions">
      {mayManage && (
        <button type="button" onClick={() => onRole(next)}>
          Make {next}
        </button>
      )}
      <button type="button" onClick={onRemove}>
        {isMe ? 'Leave' : 'Remove'}
      </button>
    </div>
  );
}

interface MembersProps {
  readonly projectId: string;
  readonly members: readonly ProjectMember[];
  readonly mayManage: boolean;
}

function Members({ projectId, members, mayManage }: MembersProps) {
  const reload = useReload(projectId);
  const [removed, setRemoved] = useState<ProjectMember>();
  const [failure, setFailure] = useState<unknown>();
  const setRole = async (member: ProjectMember, role: Role): Promise<void> => {
    await tallygate.projects.putMember(projectId, member.user_id, { project_role: role });
    await reload();
  };
  const remove = async (): Promise<void> => {
    if (removed) await tallygate.projects.removeMember(projectId, removed.user_id);
    await reload();
  };
  const changes: Column<ProjectMember> = {
    name: 'Change',
    isAction: true,
    cell: (member) => (
      <Changes
        {...{ member, mayManage }}
        onRole={(role) => void setRole(member, role).catch(setFailure)}
        onRemove={() => setRemoved(member)}
      />
    ),
  };
  if (members.length === 0)
    return <Empty title="No members yet">Members see the project and make keys in it. Owners and admins of the account do without.</Empty>;
  return (
    <>
      {failure !== undefined && <Failure error={failure} />}
      <Table label="Members of the project" rows={members} columns={[...MEMBERS, changes]} idOf={({ user_id: id }) => id} />
      {removed && (
        <Confirm
          title={`Remove ${removed.email}?`}
          action="Remove from the project"
          onConfirm={remove}
          onClose={() => setRemoved(undefined)}
        >
          Their keys of the project, and those of it that they rotated, are revoked within a second. Their other keys go on.
        </Confirm>
      )}
    </>
  );
}

export function ProjectPage() {
  const { projectId } = useParams({ from: '/frame/projects/$projectId' });
  const { user_id: me } = useMe();
  const managesAccount = useMay('manage account');
  const [isAdding, setAdding] = useState(false);
  const project = useQuery({ queryKey: ['project', projectId], queryFn: () => tallygate.projects.get(projectId) });
  const { data: members, error } = useQuery({
    queryKey: ['project-members', projectId],
    queryFn: () => all(tallygate.projects.members(projectId, { limit: A_PAGE })),
  });
  const failure = project.error ?? error;
  if (!project.data || !members) return <PagePending error={failure} />;
  const mayManage = managesAccount || members.some(({ user_id: id, project_role: role }) => id === me && role === 'admin');
  const add = mayManage && (
    <button type="button" onClick={() => setAdding(true)}>
      Add
    </button>
  );
  return (
    <>
      <PageHead title={project.data.name} aside={managesAccount && <ProjectActions project={project.data} />}>
        Project <Mono>{projectId}</Mono> {project.data.archived_at !== null && <Badge state="archived" />}
      </PageHead>
      <Panel title="Members" aside={add}>
        <Members {...{ projectId, members, mayManage }} />
      </Panel>
      {isAdding && <AddMember {...{ projectId, members }} onClose={() => setAdding(false)} />}
    </>
  );
}
