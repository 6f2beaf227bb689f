/** Events of streams are sealed as bytes and no longer as text. Streams from before are told again in fewer events, like large ones. */
export const streamsSealedAsBytesMigration = {
  name: '0206-streams-sealed-as-bytes',
  up: 'truncate stored_response_streams',
};
