/** People of projects. Who has an API key in a project is a member of it from the start. */
export const projectMembersMigration = {
  name: '0262-project-members',
  up: `
create table project_members (
  project_id uuid not null references projects,
  user_id uuid not null references users,
  role text not null check (role in ('admin', 'member')),
  added_at timestamptz not null,
  primary key (project_id, user_id)
);
create index project_members_by_user on project_members (user_id);
insert into project_members (project_id, user_id, role, added_at)
  select k.project_id, k.user_id, 'member', min(k.created_at) from api_keys k join users u on u.id = k.user_id
  where k.project_id is not null and k.revoked_at is null and u.closed_at is null group by 1, 2;
`,
};
