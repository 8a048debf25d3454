import { MessageForm } from "./MessageForm";
import { MessageList } from "./MessageList";

export default function App() {
  return (
    <main>
      <MessageList />
      <MessageForm />
    </main>
  );
}
