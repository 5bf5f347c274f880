export const stores: Record<string, (limits: readonly unknown[], handler: unknown) => Promise<{ url: string; close: () => Promise<void> }>>
