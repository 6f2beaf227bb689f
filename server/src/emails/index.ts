export { createEmails } from './emails.ts';
export { emailRoutes } from './routes.ts';
export { createEmailSender } from './sender.ts';
export { createUnsubscribing, type Unsubscribing } from './unsubscribing.ts';
