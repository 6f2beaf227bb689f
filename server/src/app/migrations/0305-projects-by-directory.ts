/** Groups of the directory that make their members members of projects, and whom they have made so. */
export const projectsByDirectoryMigration = {
  name: '0305-projects-by-directory',
  up: `
create table directory_group_projects (
  group_id uuid not null references directory_groups on delete cascade,
  project_id uuid not null references projects,
  role text not null check (role in ('admin', 'member')),
  primary key (group_id, project_id)
);
-- Null: people have added them.
alter table project_members add column directory text check (directory in ('groups', 'sign_in'));
`,
};
