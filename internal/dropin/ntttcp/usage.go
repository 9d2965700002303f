package ntttcp

// Usage is what -h prints.
const Usage = `NTTTCP for Linux 1.4.3, as soku does it
---------------------------------------------------------
ntttcp: [-r|-s|-D|-M|-L|-e|-H|-P|-a|-n|-l|-6|-u|-p|-f|-b|-B|-W|-t|-C|-N|-O|-x|-j|-Q|-V|-h|-m <mapping>]
        [--show-tcp-retrans|--show-nic-packets|--show-dev-interrupts|--fq-rate-limit|--no-delay]

	-r [ADDRESS]    receive, on that address; the default
	-s [ADDRESS]    send to the receiver at that address or name
	-D              go on in the background

	-M              receiver: several senders, up to 8, begin together; the receiver's -t counts
	-L              sender: be the last of several, with which all begin
	-e              receiver: epoll; has no effect here, where no receiver uses select
	-H              receiver: stay for the next test

	-P N            ports that the receiver listens on            [16, at most 512]
	-n N            sender: threads for each port                 [4, at most 25600]
	-l N            sender: connections of each thread            [1, at most 1000]
	-m N,CPU,ADDR   ports (then 1 thread for each), processor or *, and address in one
	-a ADDRESS      sender: leave from that address and its interface

	-6              IPv6
	-u              UDP
	-p PORT         first port of the receiver; the sync port is the one below   [5001]
	-f [PORT]       sender: first port to send from               [any; 25001 without a value]
	-b N[KMG]       bytes of one read or write                    [the fastest way there is]
	-B N[KMG]       sender: bits a second of all connections together, on average
	--fq-rate-limit N[KMG]  sender: the same, evenly, in the kernel
	--no-delay      no Nagle's algorithm

	-W SECONDS      warm-up                                       [0]
	-t SECONDS      test; 0 is until interrupted                  [60]
	-C SECONDS      cool-down                                     [0]
	-N              no sync: send at once, receive from the first connection on

	-O [FILE]       lines of the console to a file                [ntttcp-for-linux-log.log]
	-x [FILE]       results as XML                                [ntttcp-for-linux-log.xml]
	-j [FILE]       results as JSON                               [ntttcp-for-linux-log.json]
	-Q              do not print the rate twice a second
	-V              print options, connections and threads
	-h              this text

	--show-tcp-retrans           what TCP of this host sent again
	--show-nic-packets NAME      packets of that interface
	--show-dev-interrupts TEXT   interrupts of the devices with that in their name

	ntttcp -r -m 8,*,192.0.2.1             8 ports, one connection each
	ntttcp -s -m 8,*,192.0.2.1 -t 300
	ntttcp -r -M -H -t 30                  any number of tests, several senders each
	ntttcp -s 192.0.2.1 -P 64 -n 16 -l 10  10240 connections
`
