export { addressInvited } from './address-invited.ts';
export { createInvites, type Invites } from './invites.ts';
export { failInvitation, mailedInvitation } from './late-report.ts';
export { activationRecords, inviteRecords } from './person-records.ts';
export { inviteRoutes } from './routes.ts';
export type { UnsubscribeFooter } from './send.ts';
