import { type Project, Tallygate } from '@tallygate/sdk';
import type { Gateway } from './gateway.ts';

/** The directory of the administrator's account gives a project to a group of one, and has told the gateway of others. */
export async function projectOfDirectory(
  gateway: Gateway,
  member: string,
  others: readonly string[],
): Promise<{ readonly client: Tallygate; readonly project: Project }> {
  const { admin_email: email, admin_password: password } = gateway.bootstrap;
  const login = await new Tallygate({ apiKey: null, baseUrl: gateway.url }).identity.login({ email, password });
  if (!('session' in login) || !login.session) throw new Error('The login answer carries no session');
  const client = new Tallygate({ apiKey: login.session.token, baseUrl: gateway.url });
  const { key } = await client.managementKeys.create({ name: 'directory', scopes: ['scim'] });
  const id = await make(gateway, key, 'Users', { userName: member });
  for (const userName of others) await make(gateway, key, 'Users', { userName });
  const group = await make(gateway, key, 'Groups', { displayName: `Team of ${member}`, members: [{ value: id }] });
  const project = await client.projects.create({ name: 'search' });
  await client.directory.updateGroup(group, { projects: [{ project_id: project.project_id, project_role: 'member' }] });
  return { client, project };
}

/** By SCIM. @returns its id */
async function make({ url }: Gateway, key: string, path: 'Users' | 'Groups', resource: object): Promise<string> {
  const answer = await fetch(`${url}/scim/v2/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/scim+json' },
    body: JSON.stringify(resource),
  });
  const { id, detail } = await answer.json();
  if (answer.status !== 201) throw new Error(`SCIM answered ${answer.status}: ${detail}`);
  return id;
}
