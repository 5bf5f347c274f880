/**
 * What Node is started with in the threads of the demo's pools. Piscina has a thread `require` its module first, and Node 20
 * and 22 end the whole process where a thread is ended while it `require`s an ES module; so they are told not to.
 */
export const workerFlags: string[] = [...process.execArgv, '--no-experimental-require-module']
