import { Composer } from "./Composer";
import { Messages } from "./Messages";

const App = () => (
  <>
    <Composer />
    <Messages />
  </>
);

export default App;
