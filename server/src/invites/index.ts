export { createInvites, type Invites } from './invites.ts';
export { inviteRoutes } from './routes.ts';
