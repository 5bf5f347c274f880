/** One thread: every subject against the floor, in rounds where floor and subject take turns. */
import { Crew } from './crew.mjs'
import { median, spread } from './figures.mjs'
import { floors as everyFloor } from './floors.mjs'
import { checkQuiet } from './quiet.mjs'

/** Rows of one shape: ns a call and the ratio to the faster floor, each as median, least, greatest. */
export async function speed(shape, subjects, { rounds, ms }, floors = everyFloor) {
  const crews = await Promise.all([...floors, ...subjects].map(({ id }) => Crew.muster(id, shape, 1)))
  try {
    const floorCrews = crews.slice(0, floors.length)
    const others = crews.slice(floors.length)
    const turn = async (crew, slice = ms) => (await crew.turn({ kind: 'bench', ms: slice }))[0].ns
    for (const crew of crews) await turn(crew, ms * 3)
    const seen = others.map(() => [])
    for (let round = 0; round < rounds; round++) {
      for (const [i, crew] of others.entries()) {
        const floor = []
        for (const each of floorCrews) floor.push(await turn(each))
        seen[i].push({ floor, ns: await turn(crew) })
      }
    }
    for (const crew of crews) crew.check()
    const floorNs = floors.map((_, f) => seen.flat().map(({ floor }) => floor[f]))
    const best = floorNs.map(median).reduce((least, ns, f, all) => (ns < all[least] ? f : least), 0)
    checkQuiet(shape.title, floorNs[best])
    const row = (subject, ns, ratios) => ({
      shape: shape.id,
      subject: subject.id,
      label: subject.label,
      threads: 1,
      ns: spread(ns),
      ratio: spread(ratios),
    })
    return [
      ...floors.map((floor, f) => ({ ...row(floor, floorNs[f], floorNs[f].map((ns, i) => ns / floorNs[best][i])), best: f === best })),
      ...others.map(({ subject }, i) =>
        row(
          subject,
          seen[i].map(({ ns }) => ns),
          seen[i].map(({ floor, ns }) => ns / floor[best]),
        ),
      ),
    ]
  } finally {
    await Promise.all(crews.map((crew) => crew.end()))
  }
}
