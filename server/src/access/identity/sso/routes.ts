import type { contract } from '@tallygate/contract';
import { originOf } from '../../../audit/index.ts';
import type { Handlers } from '../../../http/index.ts';
import { Problem } from '../../../kernel/problem.ts';
import type { Identity } from '../identity.ts';
import type { RelyingParty } from '../passkeys/relying-party.ts';
import { toLogin } from '../wire.ts';
import type { SignIns } from './sign-ins.ts';

/** @param signIns undefined where no directory is configured */
export const ssoRoutes = (
  { planOf, relyingParty }: Pick<Identity, 'planOf' | 'relyingParty'>,
  signIns: SignIns | undefined,
  publicUrl: () => string,
): Handlers<typeof contract.sso> => ({
  methods: async () => ({
    status: 200,
    body: {
      password: true,
      directory: signIns ? { name: signIns.name, login_url: `${publicUrl()}/sign-in` } : null,
      passkey: passkeyMethod(relyingParty()),
    },
  }),
  setPasswordLogin: async ({ principal, body, ...call }) => {
    await configured(signIns).setPasswordLogin(principal, body.password, originOf(call));
    return { status: 200, body };
  },
  token: async ({ body, ...call }) => ({
    status: 200,
    body: toLogin(await configured(signIns).take(body.code, body.code_verifier, originOf(call)), planOf),
  }),
  logout: async ({ principal, ...call }) => ({
    status: 200,
    body: { logout_url: await configured(signIns).logout(principal, originOf(call)) },
  }),
});

/** @throws Problem `not_found` */
function configured(signIns: SignIns | undefined): SignIns {
  if (!signIns) throw new Problem('not_found', 'No directory is configured here: log in with e-mail address and password.');
  return signIns;
}

const passkeyMethod = (party: RelyingParty | undefined) => (party ? { rp_id: party.rpId } : null);
