/** `hotbucket/http` */
export type { AddressOptions, AddressSource } from './address.ts'
export { clientAddress } from './address.ts'
export { joinKey } from './key.ts'
export type { NodeMiddleware, NodeOptions, NodeRequest, NodeResponse } from './node.ts'
export { rateLimit } from './node.ts'
export type { GateOptions, Limiter } from './options.ts'
