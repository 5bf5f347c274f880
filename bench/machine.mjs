/** Where and when a run was made. */
import { availableParallelism, cpus, totalmem } from 'node:os'

export function machine() {
  return {
    cpu: cpus()[0].model.trim(),
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    platform: `${process.platform} ${process.arch}`,
    node: process.version,
    v8: process.versions.v8,
    date: new Date().toISOString().slice(0, 10),
  }
}

export function line({ cpu, cores, memoryGiB, platform, node, v8, date, noisy }) {
  return `${noisy ? 'NOISY, NOT TO BE QUOTED: ' : ''}${cpu}, ${cores} cores, ${memoryGiB} GiB, ${platform}; Node ${node}, V8 ${v8}; ${date}`
}
