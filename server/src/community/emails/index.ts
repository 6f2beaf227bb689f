export { createBounces } from './bounces.ts';
export { createEmails } from './emails.ts';
export { recipientRecords } from './person-records.ts';
export { createReturnPaths } from './return-paths.ts';
export { emailBounceRoutes, emailRoutes } from './routes.ts';
export { createEmailSender, EMAILS_DUE } from './sender.ts';
export { emailTemplateRoutes } from './template-routes.ts';
export { createEmailTemplates } from './templates.ts';
export { createUnsubscribing, type Unsubscribing } from './unsubscribing.ts';
