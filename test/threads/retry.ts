/** A twin breaks by a race, which threads may miss now and then: it must be caught in one of ten runs. What must hold is run once. */
export const CAUGHT_IN_TIME = { retry: 9 } as const
