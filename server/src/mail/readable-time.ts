/** `21 November 2026, 08:05 UTC` */
export const readableTime = (at: string): string =>
  `${new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' }).format(new Date(at)).replace(' at ', ', ')} UTC`;
