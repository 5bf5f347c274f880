// A worker whose every task fails.
export default () => {
  throw new Error('the kettle is empty')
}
