export { createInvites, type Invites } from './invites.ts';
export { activationRecords, inviteRecords } from './person-records.ts';
export { inviteRoutes } from './routes.ts';
