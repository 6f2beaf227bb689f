import { AuthenticationError, type UserResponse } from '@tallygate/sdk';
import { useQuery } from '@tanstack/react-query';
import { tallygate } from './client.ts';
import { may, type Right } from './may.ts';

export const ME = ['me'] as const;

/** Who is signed in; null for nobody. */
export async function fetchMe(): Promise<UserResponse | null> {
  try {
    return await tallygate.identity.me();
  } catch (error) {
    if (error instanceof AuthenticationError) return null;
    throw error;
  }
}

/** The person who is signed in: below the frame there is always one, also while a session that has ended is being left. */
export function useMe(): UserResponse {
  const { data } = useQuery<UserResponse | null>({ queryKey: ME, queryFn: () => tallygate.identity.me() });
  if (!data) throw new Error('Nobody is signed in');
  return data;
}

/** Whether who is signed in may do that. */
export const useMay = (right: Right): boolean => may(useMe(), right);
