import { contract } from '@tallygate/contract';
import { type DirectoryGroups, directoryRoutes } from '../access/directory/index.ts';
import {
  accountRoutes,
  deviceLoginRoutes,
  type Identity,
  identityRoutes,
  memberRoutes,
  mfaRoutes,
  passkeyRoutes,
  type SignIns,
  ssoRoutes,
  userRoutes,
} from '../access/identity/index.ts';
import { type Keys, keyRoutes, ManagementKeys, managementKeyRoutes, revokeKeysInProject, revokeProjectKeys } from '../access/keys/index.ts';
import { ProjectMembers, Projects, projectRoutes } from '../access/projects/index.ts';
import { auditRoutes } from '../audit/index.ts';
import type { Foundation } from './foundation.ts';
import { type Endpoint, endpointsOf } from './http/endpoint.ts';

interface AccessDeps extends Pick<Foundation, 'pool' | 'clock'> {
  readonly identity: Identity;
  readonly keys: Keys;
  /** Undefined where no directory signs people in. */
  readonly signIns: SignIns | undefined;
  readonly groups: DirectoryGroups;
  readonly publicUrl: () => string;
}

/** Who may do what: people and their logins, members, keys and projects. */
export const accessEndpoints = ({ pool, clock, identity, keys, signIns, groups, publicUrl }: AccessDeps): Endpoint[] => [
  ...endpointsOf(contract.identity, identityRoutes(identity)),
  ...endpointsOf(contract.account, accountRoutes(identity)),
  ...endpointsOf(contract.deviceLogins, deviceLoginRoutes(identity, publicUrl)),
  ...endpointsOf(contract.sso, ssoRoutes(identity, signIns, publicUrl)),
  ...endpointsOf(contract.mfa, mfaRoutes(identity)),
  ...endpointsOf(contract.passkeys, passkeyRoutes(identity)),
  ...endpointsOf(contract.users, userRoutes(identity)),
  ...endpointsOf(contract.members, memberRoutes(identity)),
  ...endpointsOf(contract.directory, directoryRoutes(groups)),
  ...endpointsOf(contract.audit, auditRoutes(identity.auditLog)),
  ...endpointsOf(contract.keys, keyRoutes({ keys, clock })),
  ...endpointsOf(contract.managementKeys, managementKeyRoutes(new ManagementKeys({ pool, clock }))),
  ...endpointsOf(
    contract.projects,
    projectRoutes(
      new Projects({ pool, clock, revokeKeys: revokeProjectKeys }),
      new ProjectMembers({ pool, clock, revokeKeys: revokeKeysInProject }),
    ),
  ),
];
