import { createHash } from 'node:crypto';
import { type FakeUpstream, startFakeUpstream } from '@tallygate/fake-upstream';
import { type LoginMfaRequiredResponse, Tallygate, type UserResponse } from '@tallygate/sdk';
import { CLIENT, startTestProvider, type TestProvider } from '../../server/src/adapters/directory/testing/provider.ts';
import { freePort } from '../../server/src/kernel/free-port.ts';
import { MODEL } from './chat.ts';
import { Gateway } from './gateway.ts';

/** Nano-USD of a token, as the catalogue has it since long before this test. */
const PRICES: Readonly<Record<string, { readonly input: number; readonly output: number }>> = {
  [MODEL]: { input: 150, output: 600 },
  'gpt-4.1-nano': { input: 100, output: 400 },
};
export const OTHER_MODEL = 'gpt-4.1-nano';
const MEMBERS = 10;
/** Nobody listens there: the browser of the tests stops at the address. */
const BACK = 'http://127.0.0.1:9/';
const VERIFIER = 'the-verifier-that-only-the-program-knows-0000';

export interface Member {
  readonly userId: string;
  readonly projectId: string;
  /** With the session of their sign-in. */
  readonly client: Tallygate;
}

/** A company on a gateway: its directory signs ten people in, five in each of two projects, and a management key provisions the rest. */
export class Company {
  readonly gateway: Gateway;
  readonly directory: TestProvider;
  readonly upstream: FakeUpstream;
  /** With the session of the administrator. */
  readonly owner: Tallygate;
  /** With a management key. */
  readonly terraform: Tallygate;
  readonly projectIds: readonly [string, string];

  private constructor(parts: Pick<Company, 'gateway' | 'directory' | 'upstream' | 'owner' | 'terraform' | 'projectIds'>) {
    this.gateway = parts.gateway;
    this.directory = parts.directory;
    this.upstream = parts.upstream;
    this.owner = parts.owner;
    this.terraform = parts.terraform;
    this.projectIds = parts.projectIds;
  }

  /** @param env of the gateway, beside its directory's */
  static async open(env: Readonly<Record<string, string>>): Promise<Company> {
    const port = await freePort();
    const directory = await startTestProvider(() => [`http://127.0.0.1:${port}/sign-in/callback`]);
    const upstream = await startFakeUpstream();
    const gateway = await Gateway.start({
      process: 'shared',
      providers: [{ name: 'fake', base_url: upstream.url, models: Object.keys(PRICES) }],
      env: {
        ...{ PORT: String(port), OIDC_ISSUER: directory.issuer, OIDC_CLIENT_ID: CLIENT.id, OIDC_CLIENT_SECRET: CLIENT.secret },
        ...{ OIDC_ROLES: 'staff=developer', OIDC_PROJECTS: 'search-team=search,ads-team=ads', LOG_LEVEL: 'warn' },
        ...env,
      },
    });
    const { admin_email: email, admin_password: password } = gateway.bootstrap;
    const owner = sessionOf(gateway, await new Tallygate({ apiKey: null, baseUrl: gateway.url }).identity.login({ email, password }));
    const { key } = await owner.managementKeys.create({
      name: 'terraform',
      scopes: ['projects:write', 'keys:write', 'limits:write', 'account:read'],
    });
    const terraform = new Tallygate({ apiKey: key, baseUrl: gateway.url });
    const [search, ads] = [await projectOf(terraform, 'search'), await projectOf(terraform, 'ads')];
    return new Company({ gateway, directory, upstream, owner, terraform, projectIds: [search, ads] });
  }

  /** Everybody of the directory, who is a member by signing in: the first five are in the first project. */
  signInAll(): Promise<Member[]> {
    return Promise.all(
      Array.from({ length: MEMBERS }, (_, index) => {
        const login = `person-${index}`;
        const isOfFirst = index < MEMBERS / 2;
        const groups = ['staff', isOfFirst ? 'search-team' : 'ads-team'];
        this.directory.people.set(login, { email: `${login}@example.com`, groups });
        return this.#signIn(login, this.projectIds[isOfFirst ? 0 : 1]);
      }),
    );
  }

  async #signIn(login: string, projectId: string): Promise<Member> {
    const code_challenge = createHash('sha256').update(VERIFIER).digest('base64url');
    const begin = `${this.gateway.url}/sign-in?${new URLSearchParams({ redirect_uri: BACK, code_challenge, state: 'mine' })}`;
    const back = await this.directory.signIn(begin, login);
    const code = back.searchParams.get('code');
    if (code === null) throw new Error(`The sign-in ended at ${back}`);
    const stranger = new Tallygate({ apiKey: null, baseUrl: this.gateway.url });
    const user = await stranger.sso.token({ code, code_verifier: VERIFIER });
    return { userId: user.user_id, projectId, client: sessionOf(this.gateway, user) };
  }

  async close(): Promise<void> {
    await this.gateway.remove();
    await this.upstream.close();
    await this.directory.close();
  }
}

/** What the provider bills for a call, nano-USD at the prices of its model. */
export function priceOf(model: string, usage: { readonly prompt_tokens: number; readonly completion_tokens: number }): bigint {
  const price = PRICES[model];
  if (!price) throw new Error(`There is no price of ${model}`);
  return BigInt(usage.prompt_tokens * price.input + usage.completion_tokens * price.output);
}

function sessionOf({ url: baseUrl }: Gateway, answered: UserResponse | LoginMfaRequiredResponse): Tallygate {
  if (!('session' in answered) || !answered.session) throw new Error('The login answer carries no session');
  return new Tallygate({ apiKey: answered.session.token, baseUrl });
}

const projectOf = async (client: Tallygate, name: string): Promise<string> =>
  (await client.projects.create({ name, external_id: name })).project_id;
