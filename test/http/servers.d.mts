export const adapters: Record<string, (limits: readonly unknown[], handler: unknown) => Promise<{ url: string; close: () => Promise<void> }>>
export const adapterNames: readonly string[]
export const ok: () => { status: number; body: string }
