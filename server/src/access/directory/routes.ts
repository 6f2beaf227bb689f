import type { contract } from '@tallygate/contract';
import { originOf } from '../../audit/index.ts';
import type { Handlers } from '../../http/index.ts';
import type { DirectoryGroups } from './directory-groups.ts';

export const directoryRoutes = (groups: DirectoryGroups): Handlers<typeof contract.directory> => ({
  groups: async ({ principal, query }) => ({ status: 200, body: await groups.given(principal.accountId, query) }),
  updateGroup: async ({ principal, params, body, ...call }) => ({
    status: 200,
    body: await groups.give(principal, params.group_id, body, originOf(call)),
  }),
});
